//! The corpus by the analysis alone. What only the policy of paths asks for, reading secrets, is left to the
//! end-to-end test, which asks the running daemon.

use crate::judge::{analysis_of, judge};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tests::shell::corpus::{Class, FILES, Line, load};

/// Of the lines that only read, how many may be asked for, in per cent.
const ASKED_PERCENT: usize = 2;
/// The family of lines that only read, but what nobody may read unasked.
const SECRETS: &str = "secret-read";

/// No line that may do more than read passes for one that only reads.
#[test]
fn what_may_do_more_is_never_taken_for_reading() {
    for file in FILES {
        let lines = load(file);
        let wrong: Vec<&Line> = lines
            .iter()
            .filter(|line| line.class == Class::Ask && line.family() != SECRETS && judge(&line.cmd).is_some())
            .collect();
        assert!(wrong.is_empty(), "{file}: {} lines pass as mere reading:{}", wrong.len(), by_family(&wrong));
    }
}

/// Nearly every line that people type to look around is known as such.
#[test]
fn what_only_reads_is_known_as_such() {
    for file in FILES {
        let lines = load(file);
        let readonly: Vec<&Line> = lines.iter().filter(|line| line.class == Class::ReadOnly).collect();
        let wrong: Vec<&Line> = readonly.iter().copied().filter(|line| judge(&line.cmd).is_none()).collect();
        let (asked, all) = (wrong.len(), readonly.len());
        assert!(
            asked * 100 <= all * ASKED_PERCENT,
            "{file}: {asked} of {all} lines are not known to only read:{}",
            by_family(&wrong)
        );
    }
}

#[test]
fn a_line_is_in_one_file_once() {
    let mut seen = BTreeMap::new();
    for file in FILES {
        for line in load(file) {
            assert_eq!(seen.insert(line.cmd.clone(), file), None, "{file}: {:?} is there twice", line.cmd);
            assert!(!line.family().is_empty(), "{file}: {:?} says no family", line.cmd);
        }
    }
}

fn by_family(lines: &[&Line]) -> String {
    let mut families: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        families.entry(line.family()).or_default().push(line);
    }
    let mut text = String::new();
    for (family, lines) in families {
        let _ = write!(text, "\n{family} ({})", lines.len());
        for line in lines {
            let _ = write!(text, "\n    {:?}  {}", line.cmd, why(&line.cmd));
        }
    }
    text
}

/// The first thing that speaks against a line.
fn why(line: &str) -> String {
    let analysis = analysis_of(line);
    let unknown = analysis.commands.into_iter().find(|command| command.class != agentd::shell::Class::ReadOnly);
    analysis.refused.or(unknown.map(|command| command.why)).unwrap_or_default()
}
