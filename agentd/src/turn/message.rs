//! A message under way: its blocks as they stream in, and what is kept of it when it is cut.

use super::model_event::BlockKind;
use proto::content::MessageBlock;
use proto::event::DeltaKind;
use proto::ids::MessageId;
use proto::session::{Cost, Usage};
use std::collections::BTreeMap;

/// A message that the model is writing.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialMessage {
    /// Its id.
    pub id: MessageId,
    /// Tokens of the call so far.
    pub usage: Usage,
    /// Cost of the call so far.
    pub cost: Option<Cost>,
    blocks: BTreeMap<usize, PartialBlock>,
}

#[derive(Debug, Clone, PartialEq)]
struct PartialBlock {
    kind: BlockKind,
    text: String,
    done: Option<MessageBlock>,
}

impl PartialMessage {
    /// An empty one.
    #[must_use]
    pub fn new(id: MessageId) -> Self {
        Self { id, usage: Usage::default(), cost: None, blocks: BTreeMap::new() }
    }

    /// Begins a block.
    pub fn start_block(&mut self, index: usize, kind: BlockKind) {
        self.blocks.insert(index, PartialBlock { kind, text: String::new(), done: None });
    }

    /// Adds a part and returns how many bytes of the block there were before it.
    pub fn add(&mut self, index: usize, kind: DeltaKind, text: &str) -> u64 {
        let block = self.blocks.entry(index).or_insert_with(|| PartialBlock {
            kind: match kind {
                DeltaKind::Text => BlockKind::Text,
                DeltaKind::Thinking => BlockKind::Thinking,
                DeltaKind::ToolInput => BlockKind::Other,
            },
            text: String::new(),
            done: None,
        });
        let offset = block.text.len() as u64;
        block.text.push_str(text);
        offset
    }

    /// Ends a block.
    pub fn finish_block(&mut self, index: usize, whole: MessageBlock) {
        let block = self.blocks.entry(index).or_insert_with(|| PartialBlock {
            kind: BlockKind::Other,
            text: String::new(),
            done: None,
        });
        // The text was only kept for a cut; a long input need not be held twice.
        block.text = String::new();
        block.done = Some(whole);
    }

    /// Whether anything of it was streamed.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Whether something complete of it is of use: text, or a call. Thinking alone is none.
    #[must_use]
    pub fn is_worth_keeping(&self) -> bool {
        self.blocks.values().filter_map(|block| block.done.as_ref()).any(|block| match block {
            MessageBlock::Text { text } => !text.trim().is_empty(),
            MessageBlock::ToolUse { .. } => true,
            MessageBlock::Thinking { .. } | MessageBlock::RedactedThinking { .. } | MessageBlock::Other(_) => false,
        })
    }

    /// The blocks that are complete, and the text of a block that was cut: text is worth keeping in part,
    /// an unfinished tool call or unsigned thinking is not.
    #[must_use]
    pub fn into_blocks(self) -> Vec<MessageBlock> {
        self.blocks
            .into_values()
            .filter_map(|block| match (block.done, block.kind) {
                (Some(done), _) => Some(done),
                (None, BlockKind::Text) if !block.text.is_empty() => Some(MessageBlock::Text { text: block.text }),
                (None, _) => None,
            })
            .filter(|block| !matches!(block, MessageBlock::Text { text } if text.is_empty()))
            .collect()
    }
}
