//! Arithmetic. Bash evaluates the values of variables again, so a value that is not surely a number may run commands.
//! Part of the expansion of words.

use crate::shell::ast::Part;
use crate::shell::names;
use crate::shell::state::{Value, is_plain_number};
use crate::shell::walk::{Walk, Walked};

/// Operators, the longest first.
const OPERATORS: [&str; 37] = [
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "=", "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "|", "^", "?", ":", ",",
];
/// Longer expressions are not computed, only checked.
const COMPUTED: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Number(Option<i64>),
    Name(String),
    Operator(&'static str),
    Open,
    Close,
}

impl Walk<'_> {
    /// The value of an expression, if it is known; what it sets and what may come of it is noted.
    pub(in crate::shell) fn arithmetic(&mut self, parts: &[Part]) -> Walked<Option<i64>> {
        let mut tokens = Vec::new();
        self.spend_words(1)?;
        for part in parts {
            if let Part::Text(text) = part {
                if let Err(odd) = tokenize(text, &mut tokens) {
                    self.harm(format!("`{odd}` in an arithmetic expression is not understood"));
                    return Ok(None);
                }
                continue;
            }
            let value = self.expand_parts(std::slice::from_ref(part), "")?;
            let number = self.is_number_part(part, value.exact());
            let joined = matches!(tokens.last(), Some(Token::Name(_)));
            if !number || joined {
                self.harm("an arithmetic expression may run what a value holds".to_owned());
                return Ok(None);
            }
            tokens.push(Token::Number(value.exact().and_then(plain)));
        }
        self.spend_words(tokens.len() / 4)?;
        self.names_in(&tokens);
        let Some((target, rest)) = assigned(&tokens) else { return Ok(compute(&self.with_values(&tokens))) };
        let value = compute(&self.with_values(rest));
        self.assign(&target, value.map_or(Value::Number, |n| Value::Exact(n.to_string())));
        Ok(value)
    }

    /// Whether a part of an expression gives a plain number.
    pub(in crate::shell) fn is_number_part(&mut self, part: &Part, exact: Option<&str>) -> bool {
        if let Some(text) = exact {
            return is_plain_number(text);
        }
        match part {
            Part::Arithmetic(_) => true,
            Part::Command(_) => self.number_output,
            Part::Parameter(parameter) => {
                let plain = matches!(parameter.operation, crate::shell::ast::Operation::Plain);
                let length = matches!(parameter.operation, crate::shell::ast::Operation::Length);
                let value = self.state.get(&parameter.name);
                let whole = plain && parameter.subscript.is_none();
                length || whole && value.map_or_else(|| names::is_number(&parameter.name), Value::is_number)
            }
            _ => false,
        }
    }

    /// Checks the variables that are named, and sets those that are assigned.
    fn names_in(&mut self, tokens: &[Token]) {
        let sure = !tokens.iter().any(|token| matches!(token, Token::Operator("&&" | "||" | "?")));
        for (index, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let before = index.checked_sub(1).and_then(|at| tokens.get(at));
            let after = tokens.get(index + 1);
            let plainly = after == Some(&Token::Operator("="));
            let changes =
                matches!(after, Some(Token::Operator(op)) if is_assignment(op)) || is_step(before) || is_step(after);
            let number = match self.state.get(name) {
                Some(value) => value.is_number(),
                None => names::is_number(name),
            };
            if !(number || plainly && sure) {
                self.harm(format!("`{name}` in an arithmetic expression may hold what runs a command"));
            }
            if changes {
                self.assign(name, if number || sure { Value::Number } else { Value::any() });
            }
        }
    }

    /// The tokens with the values of variables in the place of their names.
    fn with_values(&self, tokens: &[Token]) -> Vec<Token> {
        let value = |name: &str| match self.state.get(name) {
            Some(Value::Exact(text)) => plain(text),
            _ => None,
        };
        tokens.iter().map(|t| if let Token::Name(name) = t { Token::Number(value(name)) } else { t.clone() }).collect()
    }
}

/// `name = …` as a whole, without a further assignment.
fn assigned(tokens: &[Token]) -> Option<(String, &[Token])> {
    match tokens {
        [Token::Name(name), Token::Operator("="), rest @ ..] => {
            let odd = |token: &Token| matches!(token, Token::Operator(op) if is_assignment(op) || matches!(*op, "," | "++" | "--"));
            (!rest.iter().any(odd)).then(|| (name.clone(), rest))
        }
        _ => None,
    }
}

fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">=")
}

fn is_step(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Operator("++" | "--")))
}

/// A decimal number as bash reads it; one with a zero in front is octal and not computed.
fn plain(text: &str) -> Option<i64> {
    let octal = text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    if is_plain_number(text) && !octal { text.parse().ok() } else { None }
}

/// Takes a text apart; gives back what is not understood.
fn tokenize(text: &str, tokens: &mut Vec<Token>) -> Result<(), String> {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() || first == '_' {
            let based = |b: &u8| *b == b'#' && first.is_ascii_digit();
            let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_' || based(b)).count();
            let word = rest.get(..length).unwrap_or("");
            tokens.push(if first.is_ascii_digit() { Token::Number(plain(word)) } else { Token::Name(word.to_owned()) });
            length
        } else if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            tokens.push(Token::Operator(operator));
            operator.len()
        } else {
            match first {
                ' ' | '\t' | '\n' => {}
                '(' => tokens.push(Token::Open),
                ')' => tokens.push(Token::Close),
                _ => return Err(first.to_string()),
            }
            1
        };
        rest = rest.get(length..).unwrap_or("");
    }
    Ok(())
}

/// The value of sums and products of known numbers.
fn compute(tokens: &[Token]) -> Option<i64> {
    if tokens.len() > COMPUTED {
        return None;
    }
    let mut at = 0;
    let value = sum(tokens, &mut at)?;
    (at == tokens.len()).then_some(value)
}

fn sum(tokens: &[Token], at: &mut usize) -> Option<i64> {
    let mut value = product(tokens, at)?;
    while let Some(Token::Operator(operator @ ("+" | "-"))) = tokens.get(*at) {
        *at += 1;
        let next = product(tokens, at)?;
        value = if *operator == "+" { value.checked_add(next)? } else { value.checked_sub(next)? };
    }
    Some(value)
}

fn product(tokens: &[Token], at: &mut usize) -> Option<i64> {
    let mut value = atom(tokens, at)?;
    while let Some(Token::Operator(operator @ ("*" | "/" | "%"))) = tokens.get(*at) {
        *at += 1;
        let next = atom(tokens, at)?;
        value = match *operator {
            "*" => value.checked_mul(next)?,
            "/" => value.checked_div(next)?,
            _ => value.checked_rem(next)?,
        };
    }
    Some(value)
}

fn atom(tokens: &[Token], at: &mut usize) -> Option<i64> {
    let token = tokens.get(*at)?;
    *at += 1;
    match token {
        Token::Number(value) => *value,
        Token::Operator("-") => atom(tokens, at)?.checked_neg(),
        Token::Open => {
            let value = sum(tokens, at)?;
            let closed = tokens.get(*at) == Some(&Token::Close);
            *at += 1;
            closed.then_some(value)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<i64> {
        let mut tokens = Vec::new();
        tokenize(text, &mut tokens).ok()?;
        compute(&tokens)
    }

    #[test]
    fn constants_are_computed() {
        for (text, expected) in [("3 * 7", 21), ("1+2*3", 7), ("(1+2)*3", 9), ("-4/2", -2), ("7%4", 3), ("10-2-3", 5)] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        for text in ["", "1/0", "010", "1 2", "x", "2**3", "1<2", "9999999999999999999"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
