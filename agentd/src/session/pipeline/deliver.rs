//! The end of a call on its way to the actor: fitted into what the results of its round may hold together. Results of
//! one round end one after the other here, so the log has them in the order in which they were weighed.

use super::budget::Budget;
use super::outcome::Ended;
use super::result::{chars_of, text_of, with_text, written};
use super::{CallJob, ToolMessage};
use crate::base::limits::PREVIEW_CHARS;
use crate::tools::{Fitted, Part, put_away, shorten};
use proto::content::ContentBlock;
use proto::event::PersistedResult;
use proto::ids::ToolCallId;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tokio::sync::Mutex;

/// A result no longer than this gains nothing by a file: a note and a preview are about as long.
const SMALL_CHARS: usize = PREVIEW_CHARS + 500;

/// Pictures of one round, in bytes of base64. A request that is larger than a provider takes, 32 MB with Anthropic's, would
/// be refused again and again, since the pictures stay in what the model is told.
const ROUND_PICTURE_BYTES: usize = 16 << 20;

fn picture_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Image { data, .. } | ContentBlock::Resource { data: Some(data), .. } => data.len(),
        ContentBlock::Text { .. } | ContentBlock::File { .. } | ContentBlock::Resource { data: None, .. } => 0,
    }
}

/// Puts a sentence in the place of each picture that is too much beside those of the same round.
fn keep_pictures_within(limit: usize, used: &mut usize, content: &mut [ContentBlock]) {
    for block in content {
        let bytes = picture_bytes(block);
        if bytes > 0 && used.saturating_add(bytes) > limit {
            *block = ContentBlock::text(format!(
                "[A picture of {bytes} bytes was left out: those of one round may have {limit} bytes together. Ask for it again \
                 by itself.]"
            ));
        } else {
            *used += bytes;
        }
    }
}

/// The results of one round that the model has not seen yet.
pub(in crate::session) struct Round {
    results: Mutex<Results>,
}

struct Results {
    budget: Budget,
    /// Bytes of the pictures so far, in base64.
    pictures: usize,
    large: HashMap<ToolCallId, Large>,
}

/// A result that can go to a file.
struct Large {
    content: Vec<ContentBlock>,
    is_error: bool,
    file: Option<PathBuf>,
}

impl Round {
    /// A round whose results may hold so many characters together.
    pub(in crate::session) fn new(limit: usize) -> Self {
        Self { results: Mutex::new(Results { budget: Budget::new(limit), pictures: 0, large: HashMap::new() }) }
    }

    /// The same with a result that the log has already, after a restart.
    pub(in crate::session) fn with(mut self, call: ToolCallId, content: &[ContentBlock], is_error: bool) -> Self {
        let results = self.results.get_mut();
        results.pictures += content.iter().map(picture_bytes).sum::<usize>();
        results.add(call, content, is_error, None);
        self
    }
}

/// Tells the actor. Exactly once for each call.
pub(super) async fn deliver(job: &CallJob, mut ended: Ended) {
    let mut results = job.round.results.lock().await;
    for content in [&mut ended.outcome.content, &mut ended.outcome.details.new_messages] {
        keep_pictures_within(ROUND_PICTURE_BYTES, &mut results.pictures, content);
    }
    results.make_room(job, &mut ended).await;
    let Ended { outcome, file_change, still_running } = ended;
    let id = job.context.tool_call_id.clone();
    // An actor that is gone needs no report: the log's recovery makes one.
    let _ = job.messages.send(ToolMessage::Ended { id, outcome: Box::new(outcome), file_change, still_running }).await;
}

impl Results {
    fn add(&mut self, call: ToolCallId, content: &[ContentBlock], is_error: bool, file: Option<PathBuf>) {
        let chars = chars_of(content);
        let movable = chars > SMALL_CHARS;
        if movable {
            self.large.insert(call.clone(), Large { content: content.to_vec(), is_error, file });
        }
        self.budget.reserve(call, chars, movable);
    }

    /// Moves the largest results to files until all fit. One that is in the log already gets its new text by this
    /// call's event.
    async fn make_room(&mut self, job: &CallJob, ended: &mut Ended) {
        let (own, outcome) = (&job.context.tool_call_id, &mut ended.outcome);
        let file = outcome.persisted_path.as_ref().map(PathBuf::from);
        self.add(own.clone(), &outcome.content, outcome.is_error, file);
        while let Some(call) = self.budget.must_go().cloned() {
            let Some(large) = self.large.remove(&call) else { return };
            let (content, file) = large.move_out(call.clone(), &job.context.outputs_dir).await;
            self.budget.shrink(&call, chars_of(&content));
            let persisted_path = file.map(|file| file.display().to_string());
            if call == *own {
                (outcome.content, outcome.persisted_path) = (content, persisted_path);
            } else {
                let result = PersistedResult { tool_call_id: call, persisted_path, content };
                outcome.details.persisted_results.push(result);
            }
        }
    }
}

impl Large {
    async fn move_out(self, call: ToolCallId, dir: &Path) -> (Vec<ContentBlock>, Option<PathBuf>) {
        let part = if self.is_error { Part::Ends(PREVIEW_CHARS) } else { Part::Start(PREVIEW_CHARS) };
        let (text, dir) = (text_of(&self.content), dir.to_owned());
        let fitted = written(move || match self.file {
            // What was shown is only a part of that file.
            Some(file) => Fitted { text: shorten(&text, part, &file), whole: Some(file) },
            None => put_away(&text, part, &dir, &call),
        });
        let Fitted { text, whole } = fitted.await;
        (with_text(self.content, text), whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_are_too_much_together_are_left_out() {
        let picture = |bytes: usize| ContentBlock::Image { media_type: "image/png".into(), data: "a".repeat(bytes) };
        let mut used = 0;
        let mut kept = |content: &mut [ContentBlock]| {
            keep_pictures_within(10, &mut used, content);
            content.iter().map(picture_bytes).collect::<Vec<_>>()
        };
        assert_eq!(kept(&mut [picture(6), ContentBlock::text("text")]), [6, 0]);
        assert_eq!(kept(&mut [picture(5), picture(4)]), [0, 4], "a smaller one still fits");
        assert_eq!(kept(&mut [picture(1)]), [0]);
    }
}
