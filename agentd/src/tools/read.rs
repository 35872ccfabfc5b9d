//! Read: the lines of a file with their numbers, or a picture. Only reads; notes in the session's read
//! state what was seen.

use super::binary_kind::{self, Kind};
use super::input::{parse, schema};
use super::paths::{Place, locate, shown};
use super::picture::{self, Picture};
use super::text_file::{self, MAX_WHOLE_BYTES};
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict, with_absolute_path};
use super::zones;
use crate::policy::Subject;
use crate::shell::Access;
use base64::Engine as _;
use futures::future::BoxFuture;
use proto::content::ContentBlock;
use proto::event::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _, Seek as _};
use tokio_util::sync::CancellationToken;

const DEFAULT_LINES: u64 = 2000;
const MAX_LINE_CHARS: usize = 2000;
/// A page ends where it would grow beyond this.
const MAX_PAGE_BYTES: usize = 256 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file: absolute, or relative to the session's folder.
    file_path: String,
    /// The first line to read, counted from 1.
    offset: Option<u64>,
    /// How many lines to read (2000 if absent).
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

/// The tool.
pub(super) struct Read;

impl Tool for Read {
    fn name(&self) -> &str {
        "Read"
    }

    fn prompt(&self, options: &PromptOptions) -> String {
        let list = if options.has("Glob") { "Glob" } else { "`ls` in Bash" };
        let change = if options.has("Write") { "Edit or Write" } else { "Edit" };
        format!(
            "Reads a file. Each line comes with its number and a tab before it. Without offset and limit the first \
             {DEFAULT_LINES} lines are read; lines longer than {MAX_LINE_CHARS} characters are cut. PNG, JPEG, GIF and \
             WebP files come as pictures. It can't list a folder: use {list}. A file must be read before {change} may \
             change it."
        )
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn read_only(&self, _input: &Value) -> bool {
        true
    }

    fn concurrency_safe(&self, _input: &Value) -> bool {
        true
    }

    fn blocks_interrupt(&self, _input: &Value) -> bool {
        false
    }

    /// Its pages have limits of their own. A page that went to a file would only have to be read again.
    fn max_result_chars(&self) -> usize {
        usize::MAX
    }

    fn observable_input(&self, input: &Value, context: &ToolContext) -> Option<Value> {
        with_absolute_path(input, context)
    }

    fn validate(&self, input: &Value, context: &ToolContext) -> Result<(), String> {
        let input: Input = parse(input)?;
        locate(&input.file_path, context).map(|_| ())
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        zones::place_decides()
    }

    fn subject(&self, input: &Value, context: &ToolContext) -> Subject {
        zones::subject(
            parse::<Input>(input).and_then(|input| locate(&input.file_path, context)),
            Access::Read,
            false,
            context,
        )
    }

    fn classifier_input(&self, input: &Value) -> String {
        self.title(input)
    }

    fn title(&self, input: &Value) -> String {
        super::tool::title("Read", input, "file_path")
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(super::tool::off_the_runtime(context.cancel.clone(), move || {
            let input: Input = parse(&input)?;
            let place = locate(&input.file_path, &context)?;
            read(&input, &place, &context)
        }))
    }
}

fn read(input: &Input, place: &Place, context: &ToolContext) -> Result<ToolOutput, String> {
    let (mut file, metadata) = text_file::open(&place.real)?;
    let mut start = Vec::new();
    (&mut file).take(16).read_to_end(&mut start).map_err(|error| text_file::describe(&place.real, &error))?;
    if let Some(kind) = Picture::of(&start) {
        return picture(kind, file, metadata.len(), place);
    }
    // Some of these hold no NUL byte at first, and would be shown as text in some encoding.
    if let Some(kind) = binary_kind::of(&start) {
        return Err(binary(kind, metadata.len(), place));
    }
    if metadata.len() > MAX_WHOLE_BYTES {
        return huge_text(input, file, place, context);
    }
    let loaded = text_file::load(&place.real)?;
    let Some(text) = text_file::decode(&loaded.bytes) else {
        return Err(binary(binary_kind::UNKNOWN, metadata.len(), place));
    };
    if text.text.is_empty() {
        context.files.saw_whole(&place.real, &loaded.bytes);
        return Ok(ToolOutput::text(format!("[{} exists but is empty]", shown(&place.path, context)), "empty"));
    }
    let total = text.text.lines().count() as u64;
    let mut page = Page::read(Cursor::new(text.text.as_bytes()), input, &context.cancel)?;
    page.total = Some(total);
    if page.count > 0 {
        context.files.saw(&place.real, &loaded.bytes, page.first..=page.last(), total);
    }
    if text.encoding == text_file::Encoding::SingleByte {
        page.text.push_str("\n[The file is not UTF-8; its bytes above 127 are shown as in Windows-1252]");
    }
    Ok(page.output(input))
}

/// A text too large to be held: only the page is. It can't be edited, so nothing is noted as seen.
fn huge_text(input: &Input, mut file: File, place: &Place, context: &ToolContext) -> Result<ToolOutput, String> {
    file.rewind().map_err(|error| text_file::describe(&place.real, &error))?;
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let start = reader.fill_buf().map_err(|error| text_file::describe(&place.real, &error))?;
    if start.iter().take(8192).any(|byte| *byte == 0) {
        let size = reader.get_ref().metadata().map(|metadata| metadata.len()).unwrap_or_default();
        return Err(binary(binary_kind::UNKNOWN, size, place));
    }
    Ok(Page::read(reader, input, &context.cancel)?.output(input))
}

fn binary(kind: Kind, size: u64, place: &Place) -> String {
    let Kind { name, command } = kind;
    format!(
        "{} is {name} of {}, not a text; look at it with a command in Bash, such as {command}",
        place.real.display(),
        size_in_words(size)
    )
}

fn picture(kind: Picture, mut file: File, size: u64, place: &Place) -> Result<ToolOutput, String> {
    let path = place.real.display();
    if size > picture::MAX_BYTES {
        return Err(format!(
            "{path} is a picture of {}; at most {} can be shown, so make a smaller copy first",
            size_in_words(size),
            size_in_words(picture::MAX_BYTES)
        ));
    }
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.take(picture::MAX_BYTES).read_to_end(&mut bytes))
        .map_err(|error| text_file::describe(&place.real, &error))?;
    let (width, height) = kind.check(&bytes).map_err(|problem| format!("{path} {problem}"))?;
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let content = vec![ContentBlock::Image { media_type: kind.media_type().to_owned(), data }];
    let summary = format!("picture, {width} by {height} pixels, {}", size_in_words(bytes.len() as u64));
    Ok(ToolOutput { content, summary, ..ToolOutput::default() })
}

fn size_in_words(bytes: u64) -> String {
    match bytes {
        0..=1023 => format!("{bytes} bytes"),
        1024..=1_048_575 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Some lines of a file, numbered.
struct Page {
    text: String,
    first: u64,
    count: u64,
    /// Whether the file goes on.
    more: bool,
    /// Lines of the file, where known.
    total: Option<u64>,
}

impl Page {
    fn read(mut reader: impl BufRead, input: &Input, cancel: &CancellationToken) -> Result<Self, String> {
        let first = input.offset.unwrap_or(1).max(1);
        let limit = input.limit.unwrap_or(DEFAULT_LINES);
        let mut page = Self { text: String::new(), first, count: 0, more: false, total: None };
        let mut number = 0;
        while let Some(line) = next_line(&mut reader, cancel)? {
            number += 1;
            if number < first {
                continue;
            }
            if page.count >= limit || page.text.len() >= MAX_PAGE_BYTES {
                page.more = true;
                return Ok(page);
            }
            page.push(number, &line);
        }
        page.total = Some(number);
        Ok(page)
    }

    fn push(&mut self, number: u64, line: &Line) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let text = String::from_utf8_lossy(&line.start);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let cut = crate::base::text::head(text, MAX_LINE_CHARS);
        self.text.push_str(&format!("{number:>6}\t{cut}"));
        if cut.len() < text.len() || line.cut {
            self.text.push_str(" [… line cut]");
        }
        self.count += 1;
    }

    /// The last line of the page.
    fn last(&self) -> u64 {
        (self.first + self.count).saturating_sub(1)
    }

    fn output(self, input: &Input) -> ToolOutput {
        if self.count == 0 {
            let total = lines(self.total.unwrap_or(0));
            return ToolOutput::text(
                format!("[The file has only {total}; line {} is past its end]", self.first),
                "past the end",
            );
        }
        let (summary, last) = (lines(self.count), self.last());
        let mut text = self.text;
        if self.more {
            let partial = if input.offset.is_none() && input.limit.is_none() { "PARTIAL: " } else { "" };
            let of = self.total.map_or_else(|| "a longer file".to_owned(), |total| total.to_string());
            text.push_str(&format!(
                "\n\n[{partial}lines {} to {last} of {of}; go on with offset {}]",
                self.first,
                last + 1
            ));
        }
        ToolOutput::text(text, summary)
    }
}

fn lines(count: u64) -> String {
    format!("{count} line{}", if count == 1 { "" } else { "s" })
}

/// The beginning of a line, as much of it as can be shown.
#[derive(Default)]
struct Line {
    start: Vec<u8>,
    cut: bool,
}

/// The next line, whatever its length, without holding more of it than can be shown.
fn next_line(reader: &mut impl BufRead, cancel: &CancellationToken) -> Result<Option<Line>, String> {
    let mut line = Line::default();
    let mut any = false;
    loop {
        if cancel.is_cancelled() {
            return Err("the read was cancelled".to_owned());
        }
        let buffer = reader.fill_buf().map_err(|error| format!("the file can't be read: {error}"))?;
        if buffer.is_empty() {
            return Ok(any.then_some(line));
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        // One character more than is shown, so that a cut is noticed, and a CR.
        let room = (4 * (MAX_LINE_CHARS + 2)).saturating_sub(line.start.len());
        line.cut |= part.len() > room;
        line.start.extend(part.iter().take(room));
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests;
