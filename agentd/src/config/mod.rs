//! L2: settings, in layers, and which folders are trusted. Read by `daemon`, by sessions and by methods; handed out as
//! immutable values. Written only where a person asks for it.

mod doubles;
mod edit;
mod file;
mod files;
mod folder;
mod gate;
mod keys;
mod loader;
mod lookup;
mod merge;
mod remember;
mod replace;
mod salvage;
mod settings;
mod sift;
#[cfg(test)]
mod testing;
mod trust;

pub use loader::{Loaded, Loader};
pub use lookup::Found;
pub use merge::changed;
pub use settings::{
    ApiKind, BashSettings, Cascade, Disable, Interrupt, LimitSettings, ModelSettings, PermissionSettings, Price,
    ProviderSettings, Settings, ToolSettings,
};
pub use trust::Trust;
