//! The person's own editor on a text, in a file that only they can read. Used at a question; it draws nothing.

use crate::environment::Environment;
use crate::failure::Failure;
use crate::start;
use std::fs;
use std::io::Write;

/// The editor's command line, where one is set.
pub fn configured(env: &Environment) -> Option<String> {
    env.get("VISUAL").or_else(|| env.get("EDITOR")).map(str::to_owned)
}

/// Has a text edited; returns once the editor has ended. `suffix` tells the editor what it is, such as `.sh`.
pub fn edit(editor: &str, text: &str, suffix: &str) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("cannot edit it in a file ({error})"));
    // made with mode 0600, under a name that nobody can foresee
    let mut file = tempfile::Builder::new().prefix("agentctl-").suffix(suffix).tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    // by a shell, as it may have arguments of its own; the file is one that it takes as it is
    let script = format!("{editor} \"$1\"");
    let mut command = start::command("/bin/sh".as_ref());
    let status = command.args(["-c", script.as_str(), "sh"]).arg(file.path()).status();
    let status = status.map_err(|error| Failure::new(format!("cannot start {editor} ({error})")))?;
    if !status.success() {
        return Err(Failure::new(format!("{editor} ended with {status}; nothing is changed")));
    }
    // read by its name: some editors put a new file in its place
    let bytes = fs::read(file.path()).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| Failure::new("what was edited is not UTF-8; nothing is changed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visual_comes_before_editor_and_an_empty_one_is_none() {
        let both = Environment::from([("VISUAL", "one -w"), ("EDITOR", "two")]);
        assert_eq!(configured(&both).as_deref(), Some("one -w"));
        let empty = Environment::from([("VISUAL", ""), ("EDITOR", "two")]);
        assert_eq!(configured(&empty).as_deref(), Some("two"));
        assert_eq!(configured(&Environment::default()), None);
    }

    #[test]
    fn the_file_is_private_and_comes_back_as_it_was_left() {
        let mode = "stat -c %a \"$1\" >> \"$1\"; true";
        assert_eq!(edit(mode, "text\n", ".sh").unwrap(), "text\n600\n");
        let replaced = "sh -c 'echo new > \"$1.x\" && mv \"$1.x\" \"$1\"' sh";
        assert_eq!(edit(replaced, "text", ".sh").unwrap(), "new\n");
        assert!(edit("false", "text", ".sh").unwrap_err().message.contains("nothing is changed"));
        assert!(edit("printf '\\377' >", "text", ".sh").unwrap_err().message.contains("UTF-8"));
    }
}
