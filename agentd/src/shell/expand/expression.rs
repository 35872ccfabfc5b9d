//! An expression of arithmetic as tokens: what it assigns, its value where it is known, and whether bash may give up on
//! it. Pure text. Called by `arithmetic`.

use crate::shell::state::is_plain_number;

/// Operators, the longest first.
const OPERATORS: [&str; 37] = [
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "=", "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "|", "^", "?", ":", ",",
];
/// Longer expressions are not computed, only checked.
const COMPUTED: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A number, perhaps one that is not known. What a command prints as a number has no zero in front.
    Number(Option<i64>),
    /// What begins as a number and is none that is computed: `08`, `0x1f`, `16#ff`.
    Odd,
    Name(String),
    Operator(&'static str),
    Open,
    Close,
}

impl Token {
    /// A text that begins with a digit or a minus.
    pub(super) fn number(text: &str) -> Self {
        plain(text).map_or(Self::Odd, |number| Self::Number(Some(number)))
    }
}

/// `name = …` as a whole, without a further assignment.
pub(super) fn assigned(tokens: &[Token]) -> Option<(String, &[Token])> {
    match tokens {
        [Token::Name(name), Token::Operator("="), rest @ ..] => {
            let odd = |token: &Token| matches!(token, Token::Operator(op) if is_assignment(op) || matches!(*op, "," | "++" | "--"));
            (!rest.iter().any(odd)).then(|| (name.clone(), rest))
        }
        _ => None,
    }
}

pub(super) fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">=")
}

pub(super) fn is_step(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Operator("++" | "--")))
}

/// A decimal number as bash reads it; one with a zero in front is octal and not computed.
pub(super) fn plain(text: &str) -> Option<i64> {
    let octal = text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    if is_plain_number(text) && !octal { text.parse().ok() } else { None }
}

/// Takes a text apart; gives back what is not understood.
pub(super) fn tokenize(text: &str, tokens: &mut Vec<Token>) -> Result<(), String> {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() || first == '_' {
            let based = |b: &u8| *b == b'#' && first.is_ascii_digit();
            let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_' || based(b)).count();
            let word = rest.get(..length).unwrap_or("");
            tokens.push(if first.is_ascii_digit() { Token::number(word) } else { Token::Name(word.to_owned()) });
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

/// Whether bash surely gets to the end of an expression. It gives up at a division by zero, a number that is none, and
/// what is no expression at all; then what comes after that place does not happen. Less is known here than could be.
pub(super) fn surely_ends(tokens: &[Token]) -> bool {
    let mut open = Vec::new();
    let mut wants_value = true;
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| tokens.get(at));
        let after = tokens.get(index + 1);
        let steps = matches!(token, Token::Operator("++" | "--"));
        wants_value = match (token, wants_value) {
            (Token::Number(_) | Token::Name(_), true) => false,
            (Token::Operator(_), true) if steps && matches!(after, Some(Token::Name(_))) => true,
            (Token::Operator(_), false) if steps && matches!(before, Some(Token::Name(_))) => false,
            (Token::Operator("+" | "-" | "!" | "~"), true) => true,
            (Token::Open, true) => {
                open.push(Token::Open);
                true
            }
            (Token::Close, false) if open.pop() == Some(Token::Open) => false,
            (Token::Operator("?"), false) => {
                open.push(Token::Operator("?"));
                true
            }
            (Token::Operator(":"), false) if open.pop() == Some(Token::Operator("?")) => true,
            (Token::Operator("++" | "--" | "!" | "~" | ":" | "?"), _) => return false,
            (Token::Operator(operator), false) => {
                if !(surely_divides(operator, after) && (!is_assignment(operator) || is_target(tokens, index))) {
                    return false;
                }
                true
            }
            _ => return false,
        };
    }
    open.is_empty() && !wants_value || tokens.is_empty()
}

/// Whether what is behind an operator is no zero where that matters, nor a power that may be negative.
fn surely_divides(operator: &str, after: Option<&Token>) -> bool {
    match (operator, after) {
        ("/" | "%" | "/=" | "%=", Some(Token::Number(Some(number)))) => *number != 0,
        ("**", Some(Token::Number(Some(number)))) => *number >= 0,
        ("/" | "%" | "/=" | "%=" | "**", _) => false,
        _ => true,
    }
}

/// Whether what stands before an operator that assigns is a name alone.
fn is_target(tokens: &[Token], operator: usize) -> bool {
    let name = operator.checked_sub(1).and_then(|at| tokens.get(at));
    let before = operator.checked_sub(2).and_then(|at| tokens.get(at));
    let begins = match before {
        None | Some(Token::Open | Token::Operator("," | "?")) => true,
        Some(Token::Operator(other)) => is_assignment(other),
        _ => false,
    };
    matches!(name, Some(Token::Name(_))) && begins
}

/// The value of sums and products of known numbers.
pub(super) fn compute(tokens: &[Token]) -> Option<i64> {
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

    #[test]
    fn whether_an_expression_surely_ends() {
        let ends = |text: &str| {
            let mut tokens = Vec::new();
            tokenize(text, &mut tokens).is_ok() && surely_ends(&tokens)
        };
        for text in [
            "",
            "1",
            "x + 1",
            "x = y = 1",
            "i++",
            "++i, j--",
            "a / 2",
            "x %= 3",
            "(a + b) * -c",
            "a ? b : c",
            "!a && b",
            "x += (y = 2)",
        ] {
            assert!(ends(text), "{text}");
        }
        for text in [
            "a / b",
            "a % 0",
            "x /= y",
            "2 ** n",
            "08",
            "1 +",
            "y =",
            "--y =",
            "-y = 1",
            "1 = 2",
            "a && b = 1",
            "(1",
            "1)",
            "a ? b",
            "1 2",
            "x y",
            "3++",
            "9999999999999999999",
            "a : b",
        ] {
            assert!(!ends(text), "{text}");
        }
    }
}
