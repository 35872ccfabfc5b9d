//! Where a line's programs are found: a name is what its analysis takes it for only if no folder that the session
//! works on comes first in the `PATH`. Called by Bash's permission check. Looks files up, opens and runs nothing.

use super::paths::steps;
use super::tool::ToolContext;
use crate::process::search_path;
use crate::shell::{Analysis, Command};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What runs the line is looked up as well.
const SHELL: &str = "bash";

/// Programs that start others by name, each with those: they are looked up as well.
const HELPERS: [(&str, &[&str]); 12] = [
    ("diff3", &["diff"]),
    ("dpkg", &["dpkg-query"]),
    ("egrep", &["grep"]),
    ("fgrep", &["grep"]),
    ("gunzip", &["gzip"]),
    ("npm", &["node"]),
    ("sdiff", &["diff"]),
    ("tar", &["bzip2", "compress", "gzip", "lzip", "lzma", "lzop", "xz", "zstd"]),
    ("xargs", &["echo"]),
    ("yq", &["jq"]),
    ("zcat", &["gzip"]),
    ("zgrep", &["grep", "gzip", "sed"]),
];

/// Permission of everybody to write.
const WRITABLE_BY_ALL: u32 = 0o002;
const EXECUTABLE: u32 = 0o111;

/// Why a program of the line may be another than the one of that name, one sentence; `None` if each is found outside
/// of the session's folders, or nowhere.
pub(super) fn foreign_program(analysis: &Analysis, context: &ToolContext) -> Option<String> {
    let mut names: Vec<&str> = analysis.commands.iter().flat_map(names_of).chain([SHELL]).collect();
    let helped = HELPERS.iter().filter(|(program, _)| names.contains(program));
    let helpers: Vec<&str> = helped.flat_map(|(_, helpers)| helpers.iter().copied()).collect();
    names.extend(helpers);
    names.sort_unstable();
    names.dedup();
    names.into_iter().find_map(|name| why_foreign(name, context))
}

/// The program, and those that it runs or that run it: each of the command's texts begins with one, or with an assignment
/// before it.
fn names_of(command: &Command) -> impl Iterator<Item = &str> {
    // Without a program it only sets variables.
    let forms = command.program.iter().flat_map(|_| &command.forms);
    let runs = forms.filter_map(|form| form.split(' ').find(|word| !is_assignment(word)));
    command.program.as_deref().into_iter().chain(runs)
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn why_foreign(name: &str, context: &ToolContext) -> Option<String> {
    if name.contains('/') {
        return why_untrusted(name, Path::new(name), context);
    }
    for entry in search_path(&context.env).split(':') {
        let folder = Path::new(entry);
        if !folder.is_absolute() {
            return Some(format!(
                "`{name}` may be a file of the folder that the command runs in: the PATH holds `{entry}`"
            ));
        }
        let file = folder.join(name);
        if is_program(&file) {
            return why_untrusted(name, &file, context);
        }
    }
    None
}

fn why_untrusted(name: &str, file: &Path, context: &ToolContext) -> Option<String> {
    let changeable = file.is_relative()
        || steps(file).is_none_or(|steps| steps.iter().any(|step| is_changeable(step, context)))
        || file.parent().is_none_or(is_writable_by_all);
    changeable.then(|| format!("`{name}` is {}, which what works here may have put there", file.display()))
}

/// Whether a part of the way to a file, no link before it, is in the session's folders.
fn is_changeable(step: &Path, context: &ToolContext) -> bool {
    super::paths::is_inside(step, context)
}

fn is_writable_by_all(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|metadata| metadata.permissions().mode() & WRITABLE_BY_ALL != 0)
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & EXECUTABLE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::environment::Environment;
    use crate::shell::{Class, Doing};
    use crate::tools::testing::Scratch;
    use std::collections::BTreeMap;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::sync::Arc;

    /// A scratch folder, and a folder outside of it that stands for the system's.
    struct World {
        scratch: Scratch,
        system: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let world = Self { scratch: Scratch::new(), system: tempfile::tempdir().unwrap() };
            for name in ["ls", "bash"] {
                world.program(&world.system.path().join(name));
            }
            world
        }

        fn program(&self, file: &Path) {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn inside(&self, name: &str) -> PathBuf {
            self.scratch.path(name)
        }

        /// Why `ls`, looked up in these folders, is not the system's.
        fn verdict(&self, path: &[&Path]) -> Option<String> {
            self.verdict_on(&["ls"], "ls", path)
        }

        fn verdict_on(&self, programs: &[&str], text: &str, path: &[&Path]) -> Option<String> {
            let path = path.iter().map(|folder| folder.to_str().unwrap()).collect::<Vec<_>>().join(":");
            let mut context = self.scratch.context();
            context.env = Arc::new(Environment::from(BTreeMap::from([("PATH".to_owned(), path)])));
            let commands = programs.iter().map(|program| command(program, text)).collect();
            foreign_program(&Analysis { commands, refused: None }, &context)
        }
    }

    fn command(program: &str, text: &str) -> Command {
        Command {
            text: text.to_owned(),
            program: Some(program.to_owned()),
            plain: text.to_owned(),
            forms: vec![program.to_owned(), text.to_owned()],
            class: Class::ReadOnly,
            doing: Doing::List,
            why: String::new(),
            paths: Vec::new(),
            named: Vec::new(),
            hidden: false,
        }
    }

    #[test]
    fn the_first_folder_that_has_the_program_counts() {
        let world = World::new();
        let (system, bin) = (world.system.path().to_owned(), world.inside("bin"));
        assert_eq!(world.verdict(&[&bin, &system]), None, "the session's folder holds none");
        world.program(&bin.join("ls"));
        let why = world.verdict(&[&bin, &system]).unwrap();
        assert!(why.contains(bin.join("ls").to_str().unwrap()), "{why}");
        assert_eq!(world.verdict(&[&system, &bin]), None);
        std::fs::set_permissions(bin.join("ls"), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(world.verdict(&[&bin, &system]), None, "the shell passes over what it can't run");
    }

    #[test]
    fn an_entry_that_depends_on_the_folder_asks_where_it_is_reached() {
        let world = World::new();
        let system = world.system.path().to_owned();
        for entry in ["", ".", "bin", "node_modules/.bin", "~/bin"] {
            assert!(world.verdict(&[Path::new(entry), &system]).is_some(), "{entry:?}");
            assert_eq!(world.verdict(&[&system, Path::new(entry)]), None, "{entry:?}");
            assert!(world.verdict_on(&["nosuch"], "nosuch", &[&system, Path::new(entry)]).is_some(), "{entry:?}");
        }
        assert_eq!(world.verdict_on(&["nosuch"], "nosuch", &[&system]), None);
    }

    #[test]
    fn links_into_the_session_and_out_of_it_count_as_of_the_session() {
        let world = World::new();
        let system = world.system.path().to_owned();
        symlink(&system, world.inside("bin")).unwrap();
        assert!(world.verdict(&[&world.inside("bin")]).is_some(), "the link can be changed");
        let other = tempfile::tempdir().unwrap();
        symlink(world.inside("bin"), other.path().join("bin")).unwrap();
        assert!(world.verdict(&[&other.path().join("bin")]).is_some(), "it leads through the session's folder");
        world.program(&world.inside("real"));
        symlink(world.inside("real"), other.path().join("ls")).unwrap();
        assert!(world.verdict(&[other.path()]).is_some(), "the program itself is in the session's folder");
        symlink(&system, other.path().join("plain")).unwrap();
        assert_eq!(world.verdict(&[&other.path().join("plain")]), None);
    }

    #[test]
    fn a_folder_that_everybody_may_write_to_is_no_system_folder() {
        let world = World::new();
        let system = world.system.path().to_owned();
        std::fs::set_permissions(&system, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(world.verdict(&[&system]).is_some());
    }

    #[test]
    fn what_a_program_starts_by_name_is_looked_up_too() {
        let world = World::new();
        let (system, bin) = (world.system.path().to_owned(), world.inside("bin"));
        world.program(&bin.join("grep"));
        assert!(world.verdict_on(&["egrep"], "egrep x", &[&bin, &system]).is_some());
        assert_eq!(world.verdict_on(&["fold"], "fold x", &[&bin, &system]), None);
    }

    #[test]
    fn wrappers_and_paths_are_looked_up_too() {
        let world = World::new();
        let (system, bin) = (world.system.path().to_owned(), world.inside("bin"));
        world.program(&bin.join("timeout"));
        assert_eq!(world.verdict_on(&["ls"], "ls timeout", &[&bin, &system]), None);
        assert!(world.verdict_on(&["ls"], "timeout 5 ls", &[&bin, &system]).is_some());
        assert!(world.verdict_on(&["./ls"], "./ls", &[&system]).is_some());
        let inside = bin.join("timeout");
        assert!(world.verdict_on(&[inside.to_str().unwrap()], "ls", &[&system]).is_some());
        let outside = system.join("ls");
        assert_eq!(world.verdict_on(&[outside.to_str().unwrap()], "ls", &[&system]), None);
    }

    #[test]
    fn the_shell_itself_is_looked_up() {
        let world = World::new();
        world.program(&world.inside("bin/bash"));
        assert!(world.verdict(&[&world.inside("bin"), world.system.path()]).is_some());
        assert_eq!(world.verdict(&[world.system.path(), &world.inside("bin")]), None);
    }

    #[test]
    fn without_a_path_the_shells_own_counts() {
        let world = World::new();
        let context = world.scratch.context();
        assert_eq!(context.env.get("PATH"), None);
        let commands = vec![command("ls", "ls"), command("cat", "cat")];
        assert_eq!(foreign_program(&Analysis { commands, refused: None }, &context), None);
    }
}
