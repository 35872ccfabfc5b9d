//! `printf`. A builtin.

use super::{Effect, Judged, harmless, literal, unknown, with};
use crate::shell::names::is_name;
use crate::shell::programs::Arg;
use crate::shell::state::Value;

/// `-v` and `%n` set variables; everything else only prints.
pub(super) fn printf(args: &[Arg]) -> Judged {
    let args = match args.split_first() {
        Some((first, rest)) if literal(first) == Some("--") => rest,
        _ => args,
    };
    if let [option, name, format @ ..] = args
        && literal(option) == Some("-v")
    {
        return match (literal(name).filter(|name| is_name(name)), format.first().map(literal)) {
            // A further `-v` would be the one that counts, and behind `--` stands the format.
            (Some(name), Some(Some(format))) if !sets(format) && !format.starts_with('-') => {
                with(vec![Effect::Assign(name.to_owned(), Value::any())])
            }
            _ => unknown("printf sets a variable that is not known"),
        };
    }
    let Some((format, values)) = args.split_first() else { return harmless() };
    match format {
        Arg::Literal(format) if format.starts_with('-') && args.len() > 1 => {
            unknown("an option of printf may set a variable")
        }
        Arg::Literal(format) if sets(format) => unknown("the format of printf sets a variable"),
        Arg::Literal(_) => harmless(),
        // Alone, a format has no name that it could set.
        Arg::One(_) if values.is_empty() => harmless(),
        _ => unknown("the format of printf is not known, which may set a variable"),
    }
}

/// Whether a format holds `%n`, whatever stands between.
fn sets(format: &str) -> bool {
    let whole = format.replace("%%", "");
    let between = |c: char| "0123456789-+ #'.*$hlLjzt".contains(c);
    whole.split('%').skip(1).any(|part| part.trim_start_matches(between).starts_with('n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::programs::Judgement;

    fn is_known(args: &[Arg]) -> bool {
        matches!(printf(args).0, Judgement::Known(_))
    }

    #[test]
    fn what_printf_may_do() {
        let literal = |text: &str| Arg::Literal(text.to_owned());
        let any = Arg::One(String::new());
        assert!(is_known(&[literal("%s\\n"), any.clone()]));
        assert!(is_known(&[literal("--"), literal("%d\n"), literal("3")]));
        assert!(is_known(&[literal("100%% new\n")]));
        assert!(is_known(std::slice::from_ref(&any)));
        let set = printf(&[literal("-v"), literal("PATH"), literal("x")]).1;
        assert_eq!(set, [Effect::Assign("PATH".to_owned(), Value::any())]);
        assert!(!is_known(&[literal("-v"), literal("a[0]"), literal("x")]));
        assert!(!is_known(&[literal("-v"), literal("x"), any.clone()]));
        assert!(!is_known(&[literal("-vPATH"), literal("x")]));
        assert!(!is_known(&[literal("-v"), literal("x"), literal("-v"), literal("PATH"), literal("y")]));
        assert!(!is_known(&[literal("-v"), literal("x"), literal("-vPATH"), literal("y")]));
        assert!(!is_known(&[literal("-v"), literal("x"), literal("--"), literal("%n"), literal("PATH")]));
        assert!(!is_known(&[literal("--"), literal("-v"), literal("x"), literal("-v"), literal("PATH"), literal("y")]));
        assert!(!is_known(&[literal("%5n"), literal("PATH")]));
        assert!(!is_known(&[any, literal("x")]));
        assert!(!is_known(&[Arg::Many(String::new())]));
    }
}
