//! A line of Bash as permission sees it: its analysis, made once for a call, and its commands with the files that they
//! use. Called by Bash. Looks files and names up, opens nothing but git's configuration
//! and index.

use super::bash_forms::{forms, is_hidden};
use super::bash_found::{narrowed, swept_folders};
use super::bash_git::config_runs_programs;
use super::bash_globs::{TooMany, all_links, links};
use super::bash_named::named;
use super::bash_names::odd_name;
use super::bash_path::foreign_program;
use super::bash_placed::placed;
use super::paths::{is_inside, resolve};
use super::tool::ToolContext;
use super::zones::{command_use, is_stream};
use crate::base::paths::home;
use crate::policy::{CommandUse, Commands, FileUse};
use crate::shell::{Access, Analysis, Class, Command, PathUse, World, analyse, analyse_if_plain};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Analyses that are kept: a call is looked at several times within a moment, beside others of its round.
const KEPT: usize = 16;

/// Programs that remove what they are given.
const REMOVERS: [&str; 3] = ["rm", "rmdir", "shred"];
/// Words before a program: wrappers with their options.
pub(super) const MAX_WRAPPER_WORDS: usize = 6;

/// The analyses of the last lines.
#[derive(Default)]
pub(super) struct Lines(Mutex<VecDeque<Known>>);

struct Known {
    line: String,
    cwd: String,
    home: String,
    analysis: Arc<Analysis>,
}

impl Lines {
    /// The analysis of a line that starts where the session's shell stands.
    pub fn analysis(&self, line: &str, context: &ToolContext) -> Arc<Analysis> {
        let (cwd, home) = (resolve(&context.cwd), home(&context.env));
        match (cwd.as_deref().and_then(Path::to_str), home.to_str()) {
            (Some(cwd), Some(home)) => {
                let world = World { cwd, home };
                if_names_are_plain(line, world, self.of(line, world), context)
            }
            _ => {
                let refused = Some("the name of the folder or of home is no text".to_owned());
                Arc::new(Analysis { refused, ..Analysis::default() })
            }
        }
    }

    /// The analysis of a line of which only the commands count, wherever its paths lead.
    pub fn anywhere(&self, line: &str) -> Arc<Analysis> {
        self.of(line, World { cwd: "/", home: "/" })
    }

    fn of(&self, line: &str, world: World<'_>) -> Arc<Analysis> {
        let is_same = |known: &&Known| known.line == line && known.cwd == world.cwd && known.home == world.home;
        // What is kept is whole at each moment; a panic elsewhere leaves nothing half-done.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(is_same) {
            return Arc::clone(&known.analysis);
        }
        drop(kept);
        let analysis = Arc::new(analyse(line, world));
        let (line, cwd, home) = (line.to_owned(), world.cwd.to_owned(), world.home.to_owned());
        kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front(Known { line, cwd, home, analysis: Arc::clone(&analysis) });
        analysis
    }
}

/// The analysis of a line, where it only reads if names of files are plain that one of its commands gives to another,
/// and they are. Looks at the folders each time, for these change.
fn if_names_are_plain(line: &str, world: World<'_>, known: Arc<Analysis>, context: &ToolContext) -> Arc<Analysis> {
    if known.refused.is_some() || known.commands.iter().all(is_sure) {
        return known;
    }
    let (sure, listed) = analyse_if_plain(line, world);
    if listed.is_empty() || !sure.commands.iter().all(is_sure) {
        return known;
    }
    let Some(why) = listed.iter().find_map(|listed| odd_name(listed, context)) else { return Arc::new(sure) };
    let mut known = Arc::unwrap_or_clone(known);
    for command in known.commands.iter_mut().filter(|command| !is_sure(command)) {
        (command.class, command.why) = (Class::Unknown, why.clone());
    }
    Arc::new(known)
}

/// Whether a command only reads, and what it reads is known.
fn is_sure(command: &Command) -> bool {
    command.class == Class::ReadOnly
        && command.paths.iter().all(|used| used.path.is_some() || used.access == Access::Look)
}

/// Whether judging the commands of a line means looking at files.
pub(super) fn looks_at_files(analysis: &Analysis) -> bool {
    analysis.commands.iter().any(|command| command.class != Class::Unknown || !command.paths.is_empty())
}

/// The commands of a line with the files that they use. What would be harmless by its words alone is not where a name
/// may stand for another program, or where git may run programs that a folder names.
pub(super) fn commands(line: &str, analysis: &Analysis, context: &ToolContext) -> Commands {
    let mut parts: Vec<CommandUse> = analysis.commands.iter().map(|command| command_part(command, context)).collect();
    let known = |part: &CommandUse| part.class != Class::Unknown;
    if parts.iter().any(known)
        && let Some(why) = foreign_program(analysis, context)
    {
        for part in parts.iter_mut().filter(|part| part.class != Class::Unknown) {
            (part.class, part.why) = (Class::Unknown, why.clone());
        }
    }
    if parts.iter().any(|part| known(part) && names_git(part)) && git_may_run_programs(&parts, context) {
        for part in parts.iter_mut().filter(|part| part.class != Class::Unknown && names_git(part)) {
            part.class = Class::Unknown;
            part.why = "git may run programs here that the folder's own configuration names".to_owned();
        }
    }
    Commands { line: line.to_owned(), parts, refused: analysis.refused.clone() }
}

fn command_part(command: &Command, context: &ToolContext) -> CommandUse {
    let mut part = CommandUse {
        text: command.text.clone(),
        plain: command.plain.clone(),
        forms: forms(command),
        class: command.class,
        why: command.why.clone(),
        files: Vec::new(),
        unknown_path: None,
        removes_unknown: false,
        named: named(command, context),
        hidden: is_hidden(command),
    };
    for used in narrowed(command) {
        let (used, path) = (&*used, used.path.as_deref());
        if path.is_some_and(|path| is_stream(Path::new(path)) && used.access != Access::Remove) {
            continue;
        }
        match path.and_then(|path| command_use(path, &used.text, used.access, used.below, context)) {
            Some(file) => {
                follow_links(&mut part, used, &file, context);
                part.files.push(file);
            }
            // Names may be looked at nearly anywhere.
            None if used.access == Access::Look => {}
            None => {
                part.unknown_path.get_or_insert_with(|| used.text.clone());
                part.removes_unknown |= used.access == Access::Remove;
            }
        }
    }
    part.files.extend(placed(command, context));
    if part.class == Class::Unknown {
        remove_by_text(&mut part, context);
    }
    part
}

/// What a pattern, or another command that names files, makes a command read or write by the links among these, or what
/// it reads by the links below a folder. Removing a link removes nothing else.
fn follow_links(part: &mut CommandUse, used: &PathUse, file: &FileUse, context: &ToolContext) {
    let named = used.below && !used.solid && used.access != Access::Remove;
    // Where only names are looked at, links that are followed lead to names.
    let followed = used.follows && used.access == Access::Read;
    if !named && !followed {
        return;
    }
    let found = match &used.pattern {
        Some(pattern) if !followed => links(&file.real, pattern),
        _ => all_links(&file.real, |real| is_inside(real, context)),
    };
    match found {
        Ok(links) => {
            let leads = |link: &PathBuf| command_use(link.to_str()?, "", used.access, false, context);
            part.files.extend(links.iter().filter_map(leads));
        }
        Err(TooMany) if used.access == Access::Look => {}
        Err(TooMany) => drop(part.unknown_path.get_or_insert_with(|| used.text.clone())),
    }
}

/// What a command that is not understood would remove if it is what it looks like. It asks anyway; this is for the
/// modes that would let it run.
fn remove_by_text(part: &mut CommandUse, context: &ToolContext) {
    let texts: Vec<String> = part.forms.iter().chain([&part.text]).map(|text| text.replace(['"', '\''], "")).collect();
    for word in texts.iter().flat_map(|text| removed_words(text).chain(swept_folders(text))) {
        // `~+`, `~-` and `~name` are folders that are not known here.
        let some_home = word.strip_prefix('~').is_some_and(|name| !name.is_empty() && !name.starts_with('/'));
        if some_home || word.contains(['$', '`']) {
            if some_home || word.ends_with(['/', '*']) {
                part.unknown_path.get_or_insert_with(|| word.to_owned());
                part.removes_unknown = true;
            }
            continue;
        }
        let below = word.contains(['*', '?', '[']);
        let fixed = word.split(['*', '?', '[']).next().unwrap_or_default();
        let folder = if below { fixed.rsplit_once('/').map_or(".", |(folder, _)| folder) } else { word };
        let folder = if folder.is_empty() { "/" } else { folder };
        part.files.extend(command_use(folder, word, Access::Remove, below, context));
    }
}

/// The operands of `rm`, where it is among the first words.
fn removed_words(text: &str) -> impl Iterator<Item = &str> {
    let is_remover = |word: &str| REMOVERS.contains(&word.rsplit('/').next().unwrap_or(word));
    let at = text.split_whitespace().take(MAX_WRAPPER_WORDS).position(is_remover);
    let words = text.split_whitespace().skip(at.map_or(usize::MAX, |at| at + 1));
    words.filter(|word| !word.starts_with('-'))
}

/// Whether git may be run by a command, also through another program.
fn names_git(part: &CommandUse) -> bool {
    part.text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '_')
        .any(|word| word == "git")
}

/// Git is run where the shell stands, or where the line goes first.
fn git_may_run_programs(parts: &[CommandUse], context: &ToolContext) -> bool {
    let moves = parts.iter().filter(|part| part.plain.starts_with("cd ") || part.plain.starts_with("pushd "));
    let folders = moves.flat_map(|part| &part.files).map(|file: &FileUse| file.real.as_path());
    folders.chain([context.cwd.as_path()]).any(|folder| config_runs_programs(folder, context))
}

#[cfg(test)]
mod tests;
