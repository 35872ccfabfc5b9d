//! L2: settings, in layers. Read by `daemon` at start and on reload; handed down as one immutable value.

mod file;
mod keys;
mod loader;
mod settings;
mod sift;

pub use loader::{Loaded, Loader, changed};
pub use settings::{
    ApiKind, BashSettings, Cascade, Interrupt, LimitSettings, ModelSettings, PermissionSettings, Price,
    ProviderSettings, Settings, ToolSettings,
};
