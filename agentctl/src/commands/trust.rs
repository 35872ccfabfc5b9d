//! `agentctl trust`: whether what a folder's own settings want counts. Only a person says so; agentd keeps it.

use super::{folder, print, print_pretty};
use crate::args::Trust;
use crate::failure::Outcome;
use crate::render::escape::one_line;
use crate::start::Target;
use proto::methods::{TrustGet, TrustGetParams, TrustResult, TrustSet, TrustSetParams};
use std::path::Path;

/// Files of a folder that can run something or allow something.
const FILES: [&str; 5] = [
    ".agentd/settings.json",
    ".agentd/settings.local.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
];

/// Runs the command.
pub fn run(args: &Trust, target: &Target) -> Outcome {
    let path = folder(args.path.as_deref())?;
    let mut connection = target.connect()?;
    let result = if args.show {
        connection.call::<TrustGet>(TrustGetParams { path })?
    } else {
        connection.call::<TrustSet>(TrustSetParams { path, trusted: !args.no })?
    };
    if args.json {
        print_pretty(&result)?;
    } else {
        told(&result).iter().try_for_each(|line| print(line))?;
    }
    Ok(0)
}

/// The files of a folder, and of the root of its repository, that count only if it is trusted.
fn files_of(folder: &str) -> Vec<String> {
    let folder = Path::new(folder);
    let own = FILES.into_iter().filter(|file| folder.join(file).is_file()).map(str::to_owned);
    let root = folder.ancestors().skip(1).find(|above| above.join(".git").exists());
    let root = root.filter(|_| !folder.join(".git").exists());
    let above = root.into_iter().flat_map(|root| FILES.into_iter().map(|file| root.join(file)));
    own.chain(above.filter(|file| file.is_file()).map(|file| one_line(&file.to_string_lossy()))).collect()
}

/// How a folder stands, for people.
pub fn told(result: &TrustResult) -> Vec<String> {
    let path = one_line(&result.path);
    let files = files_of(&result.path);
    let named = if files.is_empty() { "it has no settings of its own".to_owned() } else { files.join(", ") };
    match (&result.by, result.trusted) {
        (Some(by), true) if *by != result.path => vec![format!("{path} is trusted, as {} is: {named}", one_line(by))],
        (_, true) => vec![format!("{path} is trusted: {named}")],
        (_, false) => vec![
            format!("{path} is not trusted: {named}"),
            "nothing of it runs (hooks, MCP servers, helpers, env) and none of its rules allows; the rest works"
                .to_owned(),
        ],
    }
}

/// What is ignored of a folder that is not trusted, and how to trust it; none if it has nothing to ignore.
pub fn warning(result: &TrustResult) -> Option<String> {
    let files = files_of(&result.path).join(", ");
    (!result.trusted && !files.is_empty()).then(|| {
        format!(
            "! this folder is not trusted: of {files} nothing runs (hooks, MCP servers, helpers, env) and no rule allows; \
             /trust or `agentctl trust` trusts it"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_with_settings_of_its_own_is_warned_of_until_it_is_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap().to_owned();
        let mut result = TrustResult { path: path.clone(), trusted: false, by: None };
        assert_eq!(warning(&result), None, "there is nothing to ignore");
        fs::create_dir(dir.path().join(".claude")).unwrap();
        fs::write(dir.path().join(".claude/settings.json"), "{}").unwrap();
        assert!(warning(&result).unwrap().contains("of .claude/settings.json nothing runs"));
        assert_eq!(told(&result)[0], format!("{path} is not trusted: .claude/settings.json"));
        result.trusted = true;
        assert_eq!(warning(&result), None);
        result.path = dir.path().join("sub").to_str().unwrap().to_owned();
        assert_eq!(files_of(&result.path), Vec::<String>::new(), "it is no repository");
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert_eq!(files_of(&result.path), [format!("{path}/.claude/settings.json")]);
        result.path.clone_from(&path);
        result.by = Some("/".to_owned());
        assert_eq!(told(&result), [format!("{path} is trusted, as / is: .claude/settings.json")]);
    }
}
