//! Arithmetic. Bash evaluates the values of variables again, so a value that is not surely a number may run commands.
//! Part of the expansion of words.

use super::expression::{Token, assigned, compute, is_assignment, is_step, plain, surely_ends, tokenize};
use crate::shell::ast::Part;
use crate::shell::names;
use crate::shell::state::{Value, is_plain_number};
use crate::shell::walk::{Walk, Walked};

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
            // Where there is nothing, it is no expression.
            let unknown = if self.may_be_empty(part) { Token::Odd } else { Token::Number(None) };
            tokens.push(value.exact().map_or(unknown, Token::number));
        }
        self.spend_words(tokens.len() / 4)?;
        let before = (!self.surely_ends(&tokens)).then(|| self.state.clone());
        let value = self.evaluated(&tokens);
        if let Some(before) = before {
            self.may_have_stopped(&before);
        }
        Ok(value)
    }

    fn evaluated(&mut self, tokens: &[Token]) -> Option<i64> {
        self.names_in(tokens);
        let Some((target, rest)) = assigned(tokens) else { return compute(&self.with_values(tokens)) };
        let value = compute(&self.with_values(rest));
        self.assign(&target, value.map_or(Value::Number, |n| Value::Exact(n.to_string())));
        value
    }

    fn surely_ends(&self, tokens: &[Token]) -> bool {
        // `08` is no number in an expression.
        let odd = |name: &str| matches!(self.state.get(name), Some(Value::Exact(text)) if plain(text).is_none());
        surely_ends(tokens) && !tokens.iter().any(|token| matches!(token, Token::Name(name) if odd(name)))
    }

    /// Whether a part that gives a number may give nothing.
    fn may_be_empty(&self, part: &Part) -> bool {
        match part {
            Part::Parameter(parameter) => self.state.get(&parameter.name) == Some(&Value::Count),
            part => matches!(part, Part::Command(_)),
        }
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
            // `--y=` evaluates `y` first.
            let plainly = after == Some(&Token::Operator("=")) && !is_step(before);
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
