//! Tools that are there only if agentd was built with their feature (row R03): what is not compiled in can't be
//! called. Called by the registry.
//!
//! The features `worker` and `cron` are the places for tools that start child sessions and that send prompts at set
//! times. agentd can do neither yet, so they add nothing: a tool that can't do its work is not shown to a model.

use super::tool::Tool;
use std::sync::Arc;

/// The tools of the features that are on.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    sleep().into_iter().collect()
}

#[cfg(feature = "sleep")]
fn sleep() -> Option<Arc<dyn Tool>> {
    Some(Arc::new(super::sleep::Sleep))
}

#[cfg(not(feature = "sleep"))]
fn sleep() -> Option<Arc<dyn Tool>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row R03: the tool is there exactly if agentd was built with its feature.
    #[test]
    fn a_gated_tool_is_there_only_with_its_feature() {
        let names: Vec<String> = tools().iter().map(|tool| tool.name().to_owned()).collect();
        let expected: &[&str] = if cfg!(feature = "sleep") { &["Sleep"] } else { &[] };
        assert_eq!(names, expected);
    }
}
