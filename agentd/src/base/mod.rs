//! L0: small things without agentd's nouns. Everything may use them; they use nothing of agentd.

pub mod clock;
pub mod environment;
pub mod files;
pub mod ids;
pub mod limits;
pub mod paths;
pub mod text;
