//! The tokens of an awk program. Called for awk's programs. Where implementations disagree on whether a `/` divides or
//! opens a pattern, nothing is guessed.

use std::iter::Peekable;
use std::str::Chars;

/// A piece of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or keyword, and whether `(` follows at once.
    Name(String, Follows),
    /// A number.
    Number,
    /// A string as it is written, without its quotes.
    Text(String),
    /// A pattern between slashes.
    Pattern,
    /// An operator or bracket.
    Sign(&'static str),
    /// The end of a line.
    Newline,
}

/// What stands right behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Parenthesis,
    Else,
}

/// How a `[…]` in a pattern is read, on which implementations differ: a `/` in it may end the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Classes {
    /// It may hold `[:alpha:]`.
    Nested,
    /// It ends at the first `]` that isn't its first character.
    Flat,
    /// It ends at the first `]`.
    Eager,
    /// It is nothing special.
    Ignored,
}

impl Classes {
    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::Nested, Self::Flat, Self::Eager, Self::Ignored];
}

/// Why there are no tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Every awk refuses it.
    Invalid(String),
    /// Some awk may take it for something else.
    Ambiguous(String),
}

/// Longest first.
const SIGNS: &[&str] = &[
    "**=", "|&", "||", "&&", ">>", "==", "!=", "!~", "<=", ">=", "++", "--", "+=", "-=", "*=", "%=", "^=", "**", "{",
    "}", "(", ")", "[", "]", ";", ",", "!", "~", "?", ":", "=", "<", ">", "|", "+", "-", "*", "%", "^", "$", "&", "@",
];

/// The `)` behind the condition of `if` and the like.
pub(super) const CONDITION_END: &str = "condition)";

/// After these a condition stands in parentheses, and a statement follows.
const CONTROL: &[&str] = &["if", "while", "for", "switch"];

/// After these words an expression begins, so that `/` opens a pattern.
const BEFORE_EXPRESSION: &[&str] = &["print", "printf", "return", "else", "do", "exit", "case"];

/// After these words implementations may differ.
const BEFORE_ANYTHING: &[&str] = &["getline", "length", "in", "delete", "function", "func", "default", "next"];

/// Splits a program.
///
/// # Errors
/// What is not understood.
pub(super) fn tokens(program: &str, classes: Classes) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { chars: program.chars().peekable(), classes, tokens: Vec::new(), open: Vec::new() };
    while lexer.token()? {}
    match lexer.open.last() {
        Some(open) => Err(Fault::Invalid(format!("awk: {} is not closed", open.sign))),
        None => Ok(lexer.tokens),
    }
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    classes: Classes,
    tokens: Vec<Token>,
    /// The brackets that are open.
    open: Vec<Open>,
}

struct Open {
    sign: &'static str,
    /// Whether it holds the condition of `if` and the like.
    condition: bool,
}

/// What a `/` is.
enum Slash {
    Divides,
    Opens,
}

impl Lexer<'_> {
    /// Reads a token; false at the end.
    fn token(&mut self) -> Result<bool, Fault> {
        let Some(next) = self.chars.peek().copied() else { return Ok(false) };
        match next {
            ' ' | '\t' | '\r' => {
                self.chars.next();
            }
            '\\' => self.continuation()?,
            '\n' => {
                self.chars.next();
                self.tokens.push(Token::Newline);
            }
            '#' => while self.chars.next_if(|next| *next != '\n').is_some() {},
            '"' => self.text()?,
            '/' => match self.slash()? {
                Slash::Divides => {
                    self.chars.next();
                    self.chars.next_if_eq(&'=');
                    self.tokens.push(Token::Sign("/"));
                }
                Slash::Opens => self.pattern()?,
            },
            digit if digit.is_ascii_digit() || digit == '.' => self.number()?,
            letter if letter.is_ascii_alphabetic() || letter == '_' => self.name(),
            _ => self.sign()?,
        }
        Ok(true)
    }

    /// A number. What follows it at once is a name of its own: `1system(…)`.
    fn number(&mut self) -> Result<(), Fault> {
        while self.chars.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
        if self.chars.next_if(|next| matches!(next, 'e' | 'E')).is_some() {
            self.chars.next_if(|next| matches!(next, '+' | '-'));
            if !self.chars.peek().is_some_and(char::is_ascii_digit) {
                return Err(Fault::Ambiguous("awk: a name right behind a number is not understood".to_owned()));
            }
            while self.chars.next_if(char::is_ascii_digit).is_some() {}
        }
        if self.chars.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '_') {
            return Err(Fault::Ambiguous("awk: a name right behind a number is not understood".to_owned()));
        }
        self.tokens.push(Token::Number);
        Ok(())
    }

    fn continuation(&mut self) -> Result<(), Fault> {
        self.chars.next();
        self.chars.next_if_eq(&'\r');
        match self.chars.next() {
            Some('\n') => Ok(()),
            _ => Err(Fault::Ambiguous("awk: a backslash that ends no line is not understood".to_owned())),
        }
    }

    fn text(&mut self) -> Result<(), Fault> {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next() {
                Some('"') => break,
                Some('\\') => {
                    text.push('\\');
                    text.extend(self.chars.next());
                }
                None | Some('\n') => return Err(Fault::Invalid("awk: a string is not closed".to_owned())),
                Some(next) => text.push(next),
            }
        }
        self.tokens.push(Token::Text(text));
        Ok(())
    }

    fn name(&mut self) {
        let mut name = String::new();
        while let Some(next) = self.chars.next_if(|next| next.is_ascii_alphanumeric() || matches!(next, '_')) {
            name.push(next);
        }
        let follows = if self.chars.peek() == Some(&'(') { Follows::Parenthesis } else { Follows::Else };
        self.tokens.push(Token::Name(name, follows));
    }

    /// What a `/` is here.
    fn slash(&self) -> Result<Slash, Fault> {
        let ambiguous = |after: &str| Fault::Ambiguous(format!("awk: a / after {after} may be read in two ways"));
        match self.tokens.last() {
            None | Some(Token::Newline) => Ok(Slash::Opens),
            Some(Token::Number | Token::Text(_) | Token::Pattern | Token::Sign("]" | "++" | "--")) => {
                Ok(Slash::Divides)
            }
            Some(Token::Name(name, _)) if BEFORE_EXPRESSION.contains(&name.as_str()) => Ok(Slash::Opens),
            Some(Token::Name(name, _)) if BEFORE_ANYTHING.contains(&name.as_str()) => Err(ambiguous(name)),
            Some(Token::Name(..)) => Ok(Slash::Divides),
            Some(Token::Sign(CONDITION_END)) => Err(ambiguous("a condition")),
            Some(Token::Sign(")")) => Ok(Slash::Divides),
            Some(Token::Sign(_)) => Ok(Slash::Opens),
        }
    }

    fn pattern(&mut self) -> Result<(), Fault> {
        self.chars.next();
        loop {
            match self.of_pattern()? {
                '/' => break,
                '[' if self.classes != Classes::Ignored => self.class()?,
                _ => {}
            }
        }
        self.tokens.push(Token::Pattern);
        Ok(())
    }

    /// A `[…]` behind its bracket.
    fn class(&mut self) -> Result<(), Fault> {
        self.chars.next_if_eq(&'^');
        if self.classes != Classes::Eager {
            self.chars.next_if_eq(&']');
        }
        loop {
            match self.of_pattern()? {
                ']' => return Ok(()),
                '[' if self.classes == Classes::Nested && self.chars.next_if_eq(&':').is_some() => {
                    while self.chars.next_if(char::is_ascii_lowercase).is_some() {}
                    if self.chars.next_if_eq(&':').is_none() || self.chars.next_if_eq(&']').is_none() {
                        return Err(Fault::Ambiguous("awk: [: in a pattern is not understood".to_owned()));
                    }
                }
                _ => {}
            }
        }
    }

    /// The next character of a pattern; a backslash stands for itself and the one behind it.
    fn of_pattern(&mut self) -> Result<char, Fault> {
        let open = || Fault::Invalid("awk: a pattern is not closed".to_owned());
        let next = self.chars.next().filter(|next| *next != '\n').ok_or_else(open)?;
        if next == '\\' {
            self.chars.next().filter(|next| *next != '\n').ok_or_else(open)?;
        }
        Ok(next)
    }

    fn sign(&mut self) -> Result<(), Fault> {
        let rest: String = self.chars.clone().take(3).collect();
        let Some(sign) = SIGNS.iter().copied().find(|sign| rest.starts_with(sign)) else {
            let shown: String = rest.chars().take(1).collect();
            return Err(Fault::Ambiguous(format!("awk: {shown} is not understood")));
        };
        for _ in 0..sign.len() {
            self.chars.next();
        }
        let token = match sign {
            "(" | "[" | "{" => self.opens(sign),
            ")" | "]" | "}" => self.closes(sign)?,
            other => other,
        };
        self.tokens.push(Token::Sign(token));
        Ok(())
    }

    fn opens(&mut self, sign: &'static str) -> &'static str {
        let control = matches!(self.tokens.last(), Some(Token::Name(name, _)) if CONTROL.contains(&name.as_str()));
        self.open.push(Open { sign, condition: control && sign == "(" });
        sign
    }

    fn closes(&mut self, sign: &'static str) -> Result<&'static str, Fault> {
        match (self.open.pop(), sign) {
            (Some(Open { sign: "(", condition: true }), ")") => Ok(CONDITION_END),
            (Some(Open { sign: "(", .. }), ")")
            | (Some(Open { sign: "[", .. }), "]")
            | (Some(Open { sign: "{", .. }), "}") => Ok(sign),
            _ => Err(Fault::Invalid(format!("awk: {sign} closes nothing"))),
        }
    }
}
