//! L2: settings, in layers. Read by `daemon` at start and on reload; handed down as one immutable value.

mod settings;

pub use settings::{
    ApiKind, BashSettings, Cascade, LimitSettings, ModelSettings, PermissionSettings, ProviderSettings, Settings,
    ToolSettings,
};
