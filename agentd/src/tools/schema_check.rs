//! Whether a value fits a JSON Schema, and if not, one sentence that names the field and what is expected. For the
//! inputs of built-in tools and of those that come with a schema from elsewhere. Pure.
//!
//! Checked are types, enums, constants, bounds, patterns, objects, lists, combinations and references within the
//! schema (JSON Schema 2020-12). What is not checked (`format`, conditions, `unevaluated…`) passes: the tool itself
//! checks again. A pattern that Rust's regular expressions don't know passes too.

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use serde_json::{Map, Number, Value};

/// References may lead in a circle: deeper than this a value passes.
const MAX_DEPTH: usize = 128;
/// Names that a message lists at most.
const MAX_NAMES: usize = 20;

/// Checks a value.
///
/// # Errors
/// One sentence, such as ``the field `a.b[2]` must be a string, not the number 5``.
pub(super) fn check(value: &Value, schema: &Value) -> Result<(), String> {
    Checker { root: schema }.check(value, schema, &Place { path: String::new(), depth: 0 })
}

struct Checker<'a> {
    root: &'a Value,
}

/// Where in the value a check is.
struct Place {
    path: String,
    depth: usize,
}

impl Place {
    fn same(&self) -> Self {
        Self { path: self.path.clone(), depth: self.depth + 1 }
    }

    fn field(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { path, depth: self.depth + 1 }
    }

    fn item(&self, at: usize) -> Self {
        Self { path: format!("{}[{at}]", self.path), depth: self.depth + 1 }
    }

    fn named(&self) -> String {
        if self.path.is_empty() { "the input".to_owned() } else { format!("the field `{}`", self.path) }
    }
}

impl Checker<'_> {
    fn check(&self, value: &Value, schema: &Value, place: &Place) -> Result<(), String> {
        if place.depth > MAX_DEPTH {
            return Ok(());
        }
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Bool(false) => return Err(format!("{} is not allowed here; leave it out", place.named())),
            _ => return Ok(()),
        };
        if let Some(target) = fields.get("$ref").and_then(Value::as_str).and_then(|target| self.resolve(target)) {
            self.check(value, target, &place.same())?;
        }
        if !fits_alone(value, fields) {
            let (name, expected) = (place.named(), self.expectation(schema, 0));
            return Err(format!("{name} must be {expected}, not {}", kind_of(value)));
        }
        match value {
            Value::Object(object) => self.check_object(object, fields, place)?,
            Value::Array(items) => self.check_items(items, fields, place)?,
            _ => {}
        }
        self.check_combinations(value, schema, fields, place)
    }

    fn resolve(&self, target: &str) -> Option<&Value> {
        self.root.pointer(target.strip_prefix('#')?)
    }

    fn check_object(
        &self,
        object: &Map<String, Value>,
        schema: &Map<String, Value>,
        place: &Place,
    ) -> Result<(), String> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let expected = properties.get(name).map_or_else(|| "given".to_owned(), |own| self.expectation(own, 0));
                return Err(format!("{} is missing; it must be {expected}", place.field(name).named()));
            }
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object).unwrap_or(&none);
        for (name, value) in object {
            let place = place.field(name);
            let own = properties.get(name);
            let by_pattern: Vec<&Value> =
                patterns.iter().filter(|(pattern, _)| matches_pattern(pattern, name)).map(|(_, own)| own).collect();
            for own in own.into_iter().chain(by_pattern.iter().copied()) {
                self.check(value, own, &place)?;
            }
            if own.is_none() && by_pattern.is_empty() {
                match schema.get("additionalProperties") {
                    Some(Value::Bool(false)) => return Err(unknown(&place, properties)),
                    Some(further) => self.check(value, further, &place)?,
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn check_items(&self, items: &[Value], schema: &Map<String, Value>, place: &Place) -> Result<(), String> {
        let none = Vec::new();
        let first = schema.get("prefixItems").and_then(Value::as_array).unwrap_or(&none);
        for (at, item) in items.iter().enumerate() {
            if let Some(own) = first.get(at).or_else(|| schema.get("items")) {
                self.check(item, own, &place.item(at))?;
            }
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true))
            && let Some(twice) = items.iter().enumerate().find(|(at, item)| items.iter().take(*at).any(|i| i == *item))
        {
            return Err(format!("{} is in the list twice; give each item once", place.item(twice.0).named()));
        }
        Ok(())
    }

    fn check_combinations(
        &self,
        value: &Value,
        schema: &Value,
        fields: &Map<String, Value>,
        place: &Place,
    ) -> Result<(), String> {
        let list = |name: &str| fields.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list("allOf").iter().try_for_each(|part| self.check(value, part, &place.same()))?;
        for name in ["anyOf", "oneOf"] {
            let options = list(name);
            if options.is_empty() {
                continue;
            }
            let results: Vec<_> = options.iter().map(|option| self.check(value, option, &place.same())).collect();
            match results.iter().filter(|result| result.is_ok()).count() {
                1 => {}
                0 => return Err(self.no_option(value, schema, options, place)),
                _ if name == "oneOf" => {
                    return Err(format!("{} fits several of the allowed forms; give exactly one", place.named()));
                }
                _ => {}
            }
        }
        match fields.get("not") {
            Some(not) if self.check(value, not, &place.same()).is_ok() => {
                Err(format!("{} has a form that is not allowed: {}", place.named(), self.expectation(not, 0)))
            }
            _ => Ok(()),
        }
    }

    /// Of forms of which only one is of the value's type, the value was meant to be that one.
    fn no_option(&self, value: &Value, schema: &Value, options: &[Value], place: &Place) -> String {
        let mut alike = options.iter().map(|option| self.behind(option)).filter(|option| {
            option.as_object().is_some_and(|fields| fields.contains_key("type") && type_fits(value, fields))
        });
        if let (Some(only), None) = (alike.next(), alike.next())
            && let Err(message) = self.check(value, only, &place.same())
        {
            return message;
        }
        format!("{} must be {}, not {}", place.named(), self.expectation(schema, 0), kind_of(value))
    }

    /// A schema, or the one that it refers to.
    fn behind<'b>(&'b self, schema: &'b Value) -> &'b Value {
        schema.get("$ref").and_then(Value::as_str).and_then(|target| self.resolve(target)).unwrap_or(schema)
    }

    /// What is expected, in words.
    fn expectation(&self, schema: &Value, depth: usize) -> String {
        let schema = self.behind(schema);
        let given = || "given".to_owned();
        let Some(fields) = schema.as_object().filter(|_| depth < 4) else { return given() };
        if let Some(only) = fields.get("const") {
            return format!("exactly {only}");
        }
        if let Some(Value::Array(choices)) = fields.get("enum") {
            let choices: Vec<String> = choices.iter().take(MAX_NAMES).map(Value::to_string).collect();
            return format!("one of {}", choices.join(", "));
        }
        let words = match fields.get("type") {
            Some(Value::String(kind)) => vec![type_in_words(kind, fields)],
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).map(|kind| type_in_words(kind, fields)).collect()
            }
            _ if number_bounds(fields) => vec![type_in_words("number", fields)],
            _ => {
                let options = fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array);
                options.into_iter().flatten().map(|option| self.expectation(option, depth + 1)).collect()
            }
        };
        if words.is_empty() { given() } else { words.join(" or ") }
    }
}

fn number_bounds(schema: &Map<String, Value>) -> bool {
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].iter().any(|name| schema.contains_key(*name))
}

/// The keywords that need neither a reference nor a look inside.
fn fits_alone(value: &Value, schema: &Map<String, Value>) -> bool {
    let allowed = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => equal(value, only),
        (None, Some(Value::Array(choices))) => choices.iter().any(|choice| equal(value, choice)),
        _ => true,
    };
    let within = match value {
        Value::Number(number) => number_fits(number, schema),
        Value::String(text) => {
            let length = text.chars().count() as u64;
            let pattern = schema.get("pattern").and_then(Value::as_str);
            count_fits(length, schema, "minLength", "maxLength")
                && pattern.is_none_or(|pattern| matches_pattern(pattern, text))
        }
        Value::Array(items) => count_fits(items.len() as u64, schema, "minItems", "maxItems"),
        Value::Object(object) => count_fits(object.len() as u64, schema, "minProperties", "maxProperties"),
        Value::Null | Value::Bool(_) => true,
    };
    allowed && type_fits(value, schema) && within
}

/// Equality in which 1 and 1.0 are one number.
fn equal(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => value == other,
    }
}

fn type_fits(value: &Value, schema: &Map<String, Value>) -> bool {
    let is = |kind: &str| match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    };
    match schema.get("type") {
        Some(Value::String(kind)) => is(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn number_fits(number: &Number, schema: &Map<String, Value>) -> bool {
    let Some(number) = number.as_f64() else { return true };
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    bound("minimum").is_none_or(|least| number >= least)
        && bound("maximum").is_none_or(|most| number <= most)
        && bound("exclusiveMinimum").is_none_or(|least| number > least)
        && bound("exclusiveMaximum").is_none_or(|most| number < most)
        && bound("multipleOf").is_none_or(|step| {
            step <= 0.0 || {
                let times = number / step;
                (times - times.round()).abs() < 1e-9
            }
        })
}

fn count_fits(count: u64, schema: &Map<String, Value>, least: &str, most: &str) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    bound(least).is_none_or(|least| count >= least) && bound(most).is_none_or(|most| count <= most)
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    RegexMatcher::new(pattern).ok().and_then(|regex| regex.is_match(text.as_bytes()).ok()).unwrap_or(true)
}

fn type_in_words(kind: &str, schema: &Map<String, Value>) -> String {
    let bounds = |names: [(&str, &str); 4], of: &str| {
        let bounds: Vec<String> = names
            .iter()
            .filter_map(|(word, name)| schema.get(*name).map(|bound| (word, bound)))
            // A count of at least nothing needs no saying.
            .filter(|(word, bound)| **word != "at least" || bound.as_f64() != Some(0.0))
            .map(|(word, bound)| format!("{word} {bound}"))
            .collect();
        if bounds.is_empty() { String::new() } else { format!(" of {}{of}", bounds.join(" and ")) }
    };
    let counted = |least, most, of| bounds([("at least", least), ("at most", most), ("", ""), ("", "")], of);
    let measured = || {
        let (above, below) = (("more than", "exclusiveMinimum"), ("less than", "exclusiveMaximum"));
        bounds([("at least", "minimum"), above, ("at most", "maximum"), below], "")
    };
    match kind {
        "string" => match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) => format!("a string that matches {pattern}"),
            None => format!("a string{}", counted("minLength", "maxLength", " characters")),
        },
        "boolean" => "true or false".to_owned(),
        "integer" => format!("a whole number{}", measured()),
        "number" => format!("a number{}", measured()),
        "array" => format!("a list{}", counted("minItems", "maxItems", " items")),
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

fn unknown(place: &Place, properties: &Map<String, Value>) -> String {
    let known: Vec<String> = properties.keys().take(MAX_NAMES).map(|known| format!("`{known}`")).collect();
    match known.as_slice() {
        [] => format!("{} is unknown; there are no fields here", place.named()),
        known => format!("{} is unknown; the fields are {}", place.named(), known.join(", ")),
    }
}

/// A value in a few words.
pub(super) fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string \"{}\"", crate::base::text::one_line(text, 40)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests;
