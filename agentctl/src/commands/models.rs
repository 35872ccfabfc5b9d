//! `agentctl models`: what can be named with --model.

use super::{print, print_json};
use crate::args::Json;
use crate::failure::Outcome;
use crate::render::escape::one_line;
use crate::start::Target;
use proto::methods::{ModelInfo, ModelList, ModelListParams};

/// Runs the command.
pub fn run(args: &Json, target: &Target) -> Outcome {
    let params = ModelListParams { env: Some(target.env.to_map()) };
    let models = target.connect()?.call::<ModelList>(params)?.models;
    if args.json {
        models.iter().try_for_each(print_json)?;
    } else {
        models.iter().try_for_each(|model| print(&line(model)))?;
    }
    Ok(0)
}

fn line(model: &ModelInfo) -> String {
    let mut notes = Vec::new();
    if model.default {
        notes.push("default".to_owned());
    }
    if model.context_window > 0 {
        notes.push(format!("{} tokens", model.context_window));
    }
    let supports = [(model.supports.images, "images"), (model.supports.thinking, "thinking")];
    notes.extend(supports.iter().filter(|(has, _)| *has).map(|(_, what)| (*what).to_owned()));
    if !model.supports.tools {
        notes.push("no tools".to_owned());
    }
    let problem = model.problem.as_ref().map(|problem| format!("\n  ✗ {}", one_line(problem))).unwrap_or_default();
    format!("{}  {}", one_line(&model.id), notes.join(", ")).trim_end().to_owned() + &problem
}
