//! Reads the layers of settings and merges them (PROTOCOL.md §9). Called by `daemon` at start and on reload, and by
//! sessions and methods whenever they need settings: nothing watches files, and what did not change costs a few looks
//! at inodes. What it hands out is one immutable value.

use super::file::{self, Content};
use super::files::Files;
use super::folder::Folders;
use super::gate;
use super::merge::{self, Layer, Place};
use super::settings::Settings;
use super::sift::Owner;
use super::trust::{Trust, TrustStore};
use crate::base::environment::Environment;
use crate::base::paths;
use crate::policy::{Source, SourceKind};
use proto::methods::SettingsError;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const MANAGED: &str = "/etc/agentd/settings.json";
/// Beside the managed file: further ones, laid over it in the order of their names.
const MANAGED_FOLDER: &str = "managed-settings.d";
/// Folders whose settings are remembered; beyond it all are read anew.
const MANY: usize = 256;

/// Where the layers are, and what was read of them.
#[derive(Debug)]
pub struct Loader {
    pub(super) user: PathBuf,
    pub(super) user_claude: PathBuf,
    pub(super) home: PathBuf,
    given: Option<Given>,
    managed: PathBuf,
    files: Files,
    pub(super) trust: TrustStore,
    loaded: Mutex<HashMap<Option<PathBuf>, Remembered>>,
}

/// `--settings`.
#[derive(Debug)]
enum Given {
    /// A file, and what is said of it where there is none.
    File(PathBuf, Arc<Content>),
    Text(Arc<Content>),
}

/// The settings, and what could not be used of their files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// All layers merged.
    pub settings: Arc<Settings>,
    /// What is wrong with the files, in their order.
    pub errors: Vec<SettingsError>,
    /// Whether the folder is trusted, if they are those of one.
    pub trusted: bool,
    /// The layers as far as they count, weakest first.
    pub(super) layers: Vec<Layer>,
}

/// Settings with what they were made of.
#[derive(Debug)]
struct Remembered {
    places: Vec<Place>,
    contents: Vec<Arc<Content>>,
    trust_problem: Option<String>,
    loaded: Arc<Loaded>,
}

impl Loader {
    /// With the folders that the environment names, and the `--settings` of the command line: a file or
    /// a JSON text.
    #[must_use]
    pub fn new(env: &Environment, command_line: Option<String>) -> Self {
        let home = paths::home(env);
        Self {
            user: paths::config_dir(env).join("settings.json"),
            user_claude: home.join(".claude/settings.json"),
            given: command_line.map(|text| Given::read(&text)),
            managed: PathBuf::from(MANAGED),
            files: Files::default(),
            trust: TrustStore::new(paths::state_dir(env).join("trust.json"), &home),
            loaded: Mutex::default(),
            home,
        }
    }

    /// With another managed file than `/etc/agentd/settings.json`.
    #[must_use]
    pub fn with_managed(mut self, file: PathBuf) -> Self {
        self.managed = file;
        self
    }

    /// With another state folder than the environment's, where it is kept which folders are trusted.
    #[must_use]
    pub fn with_state_dir(mut self, dir: &Path) -> Self {
        self.trust = TrustStore::new(dir.join("trust.json"), &self.home);
        self
    }

    /// With other limits for files that are under way.
    #[cfg(test)]
    pub(super) fn with_patience(mut self, patience: super::files::Patience) -> Self {
        self.files = Files::new(patience);
        self
    }

    /// The settings of agentd itself.
    #[must_use]
    pub fn load(&self) -> Arc<Loaded> {
        self.current(None)
    }

    /// The settings of a session in that folder. Of the files of a folder that is not trusted only what tightens counts
    /// (`permissions.deny`, `permissions.ask` and the switches that turn a mode off), which can't run or widen anything.
    #[must_use]
    pub fn load_for(&self, cwd: &Path) -> Arc<Loaded> {
        self.current(Some(cwd))
    }

    /// The settings of agentd itself, with every file read anew.
    #[must_use]
    pub fn reload(&self) -> Arc<Loaded> {
        self.files.forget_stamps();
        self.load()
    }

    /// What is known of a folder's trust.
    #[must_use]
    pub fn trust(&self, folder: &Path) -> Trust {
        self.trust.of(folder)
    }

    /// Trusts a folder and what is below it, or takes that back. Blocks for the disk.
    ///
    /// # Errors
    /// A sentence, if the folder can't be trusted or the answer can't be kept.
    pub fn set_trust(&self, folder: &Path, trusted: bool) -> Result<Trust, String> {
        self.trust.set(folder, trusted)
    }

    fn current(&self, cwd: Option<&Path>) -> Arc<Loaded> {
        let folders = cwd.map(|cwd| Folders::of(cwd, &self.home));
        let places = self.places(folders.as_ref());
        let contents: Vec<Arc<Content>> = places.iter().map(|place| self.content(place)).collect();
        let trust_problem = self.trust.problem();
        let mut all = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let key = cwd.map(Path::to_owned);
        if let Some(known) = all.get(&key)
            && known.places == places
            && known.trust_problem == trust_problem
            && known.contents.iter().zip(&contents).all(|(known, now)| Arc::ptr_eq(known, now))
        {
            return Arc::clone(&known.loaded);
        }
        let mut loaded = merged(&places, &contents, &self.home);
        loaded.trusted = cwd.is_some_and(|cwd| self.trust.of(cwd).trusted);
        loaded
            .errors
            .extend(trust_problem.clone().map(|why| file::error(&self.trust.file().display().to_string(), why)));
        let loaded = Arc::new(loaded);
        if all.len() >= MANY {
            all.clear();
        }
        all.insert(key, Remembered { places, contents, trust_problem, loaded: Arc::clone(&loaded) });
        loaded
    }

    fn content(&self, place: &Place) -> Arc<Content> {
        match &self.given {
            Some(Given::Text(content)) if place.source.kind == SourceKind::CommandLine => Arc::clone(content),
            Some(Given::File(file, missing)) if *file == place.path && !file.exists() => Arc::clone(missing),
            _ => self.files.content(&place.path, place.owner),
        }
    }

    /// All places, weakest first.
    fn places(&self, folders: Option<&Folders>) -> Vec<Place> {
        let user = |path: &Path, owner| self.place(SourceKind::User, path, owner, folder_of(path));
        let mut places = vec![user(&self.user_claude, Owner::Claude), user(&self.user, Owner::Agentd)];
        let cwd = folders.map_or(Path::new("/"), |folders| folders.cwd.as_path());
        if let Some(folders) = folders {
            places.extend(self.places_of(folders));
        }
        match &self.given {
            None => {}
            Some(Given::Text(_)) => {
                places.push(self.place(SourceKind::CommandLine, Path::new("--settings"), Owner::Agentd, cwd));
            }
            Some(Given::File(file, _)) => {
                places.push(self.place(SourceKind::CommandLine, file, Owner::Agentd, folder_of(file)));
            }
        }
        let managed = |path: &Path| self.place(SourceKind::Managed, path, Owner::Agentd, folder_of(path));
        places.push(managed(&self.managed));
        places.extend(self.further_managed().iter().map(|file| managed(file)));
        places
    }

    fn places_of(&self, folders: &Folders) -> Vec<Place> {
        let twins = |folder: &Path, name: &str| {
            [(folder.join(".claude").join(name), Owner::Claude), (folder.join(".agentd").join(name), Owner::Agentd)]
        };
        let mut places = Vec::new();
        for folder in folders.root.iter().chain([&folders.cwd]) {
            // In the user's home the project's file is the user's own, which was read.
            let files = twins(folder, "settings.json").into_iter().filter(|(path, _)| *path != self.user_claude);
            let trusted = self.trust.of(folder).trusted;
            places.extend(
                files.map(|(path, owner)| Place { trusted, ..self.place(SourceKind::Project, &path, owner, folder) }),
            );
        }
        for folder in folders.main.iter().chain(&folders.root).chain([&folders.cwd]) {
            let of_main = folders.main.as_ref() == Some(folder);
            // The main checkout speaks for a worktree only where both are trusted.
            let trusted = self.trust.of(folder).trusted && (!of_main || self.trust.of(folders.top()).trusted);
            places.extend(
                twins(folder, "settings.local.json").into_iter().map(|(path, owner)| Place {
                    trusted,
                    ..self.place(SourceKind::Local, &path, owner, &folders.cwd)
                }),
            );
        }
        places
    }

    fn place(&self, kind: SourceKind, path: &Path, owner: Owner, base: &Path) -> Place {
        let is_file = path != Path::new("--settings");
        let source = Source { kind, file: is_file.then(|| path.to_owned()), base: base.to_owned() };
        Place { path: path.to_owned(), owner, source, trusted: true }
    }

    fn further_managed(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder_of(&self.managed).join(MANAGED_FOLDER)).ok();
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        files.sort();
        files
    }
}

impl Given {
    fn read(text: &str) -> Self {
        if text.trim_start().starts_with('{') {
            // A command line can be read by everybody on the machine.
            return Self::Text(Arc::new(file::parse("--settings", text, Owner::Agentd)));
        }
        let message = "the file of --settings does not exist: correct its path".to_owned();
        let missing = Content { errors: vec![file::error(text, message)], ..Content::default() };
        Self::File(std::path::absolute(text).unwrap_or_else(|_| text.into()), Arc::new(missing))
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

fn merged(places: &[Place], contents: &[Arc<Content>], home: &Path) -> Loaded {
    let mut errors = Vec::new();
    let layers: Vec<Layer> =
        places.iter().zip(contents).map(|(place, content)| gate::admit(place, content, home, &mut errors)).collect();
    let settings = Arc::new(merge::settings(&layers, &mut errors));
    Loaded { settings, errors, trusted: false, layers }
}

#[cfg(test)]
mod tests;
