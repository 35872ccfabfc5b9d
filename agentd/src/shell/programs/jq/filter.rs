//! The filters of jq and yq: every name in them must be one that tells nothing but the input. Called for jq.

use std::iter::Peekable;
use std::str::Chars;

/// Whose filter it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Jq,
    Yq,
}

/// Functions and keywords of jq 1.5 to 1.8, without `env`, `import`, `include`, `modulemeta` and what tells where
/// files lie.
const JQ: &str = "IN INDEX JOIN GROUP_BY UNIQUE_BY abs acos acosh add all and any arrays as ascii ascii_downcase \
    ascii_upcase asin asinh atan atan2 atanh booleans break bsearch builtins capture catch cbrt ceil combinations \
    contains copysign cos cosh dateadd datesub date debug def del delpaths drem elif else empty end endswith erf erfc \
    error exp exp10 exp2 explode expm1 fabs false fdim finites first flatten floor fma fmax fmin fmod foreach format \
    frexp from_entries fromdate fromdateiso8601 fromjson fromstream gamma getpath gmtime group_by gsub halt halt_error \
    has have_decnum have_literal_numbers hypot if implode in index indices infinite input input_filename \
    input_line_number inputs inside isempty isfinite isinfinite isnan isnormal isvalid iterables j0 j1 jn join keys \
    keys_unsorted label last ldexp leaf_paths length lgamma lgamma_r limit localtime log log10 log1p log2 logb ltrim \
    ltrimstr map map_values match max max_by min min_by mktime modf nan nearbyint nextafter nexttoward normals not now \
    nth null nulls numbers objects or path paths pick pow pow10 range recurse recurse_down reduce remainder repeat \
    reverse rindex rint round rtrim rtrimstr scalars scalars_or_empty scalb scalbln scan select setpath significand \
    sin sinh skip sort sort_by split splits sqrt startswith stderr strflocaltime strftime strings strptime sub tan \
    tanh test tgamma then to_entries toarray toboolean todate todateiso8601 tojson tonumber tostream tostring \
    transpose trim trimstr true trunc truncate_stream try type unique unique_by until utf8bytelength values walk while \
    with_entries y0 y1 yn __loc__";

/// Operators that both yq know or that harm in neither.
const YQ: &str = "add all all_c alias anchor and any any_c as ascii_downcase ascii_upcase capture collect column \
    contains del delpaths di document_index documentIndex downcase elif else empty end ends_with endswith error \
    explode false fi file_index fileIndex filename filter first flatten format_datetime from_entries from_json \
    from_unix from_yaml fromjson fromyaml group_by has if ireduce is_key join key keys keys_unsorted kind last length \
    line lineComment line_comment headComment head_comment footComment foot_comment ltrimstr map map_values match max \
    max_by min min_by not now null omit or parent path paths pick pivot range reduce reverse rtrimstr select \
    setpath shuffle sort sort_by sort_keys sortKeys split split_doc splitDoc starts_with startswith style sub tag test \
    then to_entries to_json to_number to_string to_unix to_yaml tojson tonumber tostring toyaml tz trim true type \
    unique unique_by upcase values with with_dtf with_entries";

/// Checks a filter.
///
/// # Errors
/// A sentence that names what is not known to be harmless.
pub(super) fn check(filter: &str, language: Language) -> Result<(), String> {
    let mut reader = Reader {
        chars: filter.chars().peekable(),
        language,
        open: Vec::new(),
        last: Last::Other,
        own: Vec::new(),
        used: Vec::new(),
    };
    while reader.token()? {}
    if !reader.open.is_empty() {
        return Err("jq: the filter is not closed".to_owned());
    }
    let names = match language {
        Language::Jq => JQ,
        Language::Yq => YQ,
    };
    let is_known = |name: &String| names.split_ascii_whitespace().any(|known| known == name);
    match reader.used.iter().find(|name| !is_known(name) && !reader.own.contains(name)) {
        Some(name) => Err(format!("{name} in a filter is not known to be harmless")),
        None => Ok(()),
    }
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    language: Language,
    open: Vec<Open>,
    last: Last,
    /// Names of functions and parameters that the filter defines.
    own: Vec<String>,
    /// All other names that stand for more than themselves.
    used: Vec<String>,
}

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Round,
    Square,
    /// `{` whose commas are before a key.
    Curly,
    CurlyWithoutKeys,
    /// `\(` in a string.
    Interpolation,
    /// The parameters of a `def`.
    Parameters,
}

/// What stands before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Dollar,
    Def,
    /// The name behind `def`.
    Defined,
    /// `{`, or `,` right within it.
    KeyComes,
    Other,
}

impl Reader<'_> {
    /// Reads a token; false at the end.
    fn token(&mut self) -> Result<bool, String> {
        let Some(next) = self.chars.next() else { return Ok(false) };
        match next {
            ' ' | '\t' | '\r' | '\n' => return Ok(true),
            '#' => return self.comment().map(|()| true),
            '"' => self.text()?,
            '.' => {
                let recurses = self.chars.next_if_eq(&'.').is_some();
                if !recurses && self.chars.peek().is_some_and(|next| is_letter(*next)) {
                    self.name();
                }
                self.last = Last::Other;
            }
            '$' => self.last = Last::Dollar,
            // A format as `@base64`.
            '@' => {
                self.name();
                self.last = Last::Other;
            }
            digit if digit.is_ascii_digit() => {
                while self.chars.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
                self.last = Last::Other;
            }
            letter if is_letter(letter) => self.word(letter),
            '(' | '[' | '{' => self.opens(next),
            ')' | ']' | '}' => self.closes(next)?,
            ',' if self.open.last() == Some(&Open::Curly) => self.last = Last::KeyComes,
            sign if sign.is_ascii_punctuation() && !matches!(sign, '\'' | '`' | '\\') => self.last = Last::Other,
            other => return Err(format!("jq: {other} is not understood")),
        }
        Ok(true)
    }

    /// A comment. jq 1.8 goes on behind a backslash at its end.
    fn comment(&mut self) -> Result<(), String> {
        while let Some(next) = self.chars.next_if(|next| *next != '\n') {
            if matches!(next, '\\' | '\r') {
                return Err("jq: a backslash in a comment is not understood".to_owned());
            }
        }
        Ok(())
    }

    /// A string, to its end or to an interpolation.
    fn text(&mut self) -> Result<(), String> {
        loop {
            match self.chars.next() {
                Some('"') => break,
                Some('\\') => {
                    if self.chars.next() == Some('(') {
                        self.open.push(Open::Interpolation);
                        break;
                    }
                }
                Some(_) => {}
                None => return Err("jq: a string is not closed".to_owned()),
            }
        }
        self.last = Last::Other;
        Ok(())
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(next) = self.chars.next_if(|next| is_letter(*next) || next.is_ascii_digit()) {
            name.push(next);
        }
        name
    }

    /// A name that is no field.
    fn word(&mut self, first: char) {
        let name = format!("{first}{}", self.name());
        let last = std::mem::replace(&mut self.last, Last::Other);
        match last {
            Last::Dollar => {
                // Any variable but the one that holds the environment. yq has none such.
                if name == "ENV" || name == "__prog_args" {
                    self.used.push(format!("${name}"));
                }
            }
            Last::Def => {
                self.define(name);
                self.last = Last::Defined;
            }
            _ if self.open.last() == Some(&Open::Parameters) => self.define(name),
            Last::KeyComes if self.language == Language::Jq && self.is_key() => {}
            _ if name == "def" && self.language == Language::Jq && self.open.last() != Some(&Open::Curly) => {
                self.last = Last::Def;
            }
            _ => {
                // Its commas are not those of the object around it.
                let has_commas = matches!(name.as_str(), "if" | "reduce" | "foreach" | "try" | "label");
                if let Some(open) = self.open.last_mut().filter(|open| has_commas && **open == Open::Curly) {
                    *open = Open::CurlyWithoutKeys;
                }
                self.used.push(name);
            }
        }
    }

    /// Takes a name that the filter defines. One that is a function already stays what it was elsewhere.
    fn define(&mut self, name: String) {
        if matches!(name.as_str(), "env" | "import" | "include" | "modulemeta" | "get_search_list") {
            self.used.push(name);
        } else {
            self.own.push(name);
        }
    }

    /// Whether a name in `{…}` is a key: `{a: 1}`, `{a}`.
    fn is_key(&self) -> bool {
        let mut rest = self.chars.clone().skip_while(|next| matches!(next, ' ' | '\t' | '\n'));
        match rest.next() {
            Some(',' | '}') => true,
            Some(':') => rest.next() != Some(':'),
            _ => false,
        }
    }

    fn opens(&mut self, sign: char) {
        let open = match sign {
            '(' if self.last == Last::Defined => Open::Parameters,
            '(' => Open::Round,
            '[' => Open::Square,
            _ => Open::Curly,
        };
        self.open.push(open);
        self.last = if open == Open::Curly { Last::KeyComes } else { Last::Other };
    }

    fn closes(&mut self, sign: char) -> Result<(), String> {
        self.last = Last::Other;
        match (self.open.pop(), sign) {
            (Some(Open::Interpolation), ')') => self.text(),
            (Some(Open::Round | Open::Parameters), ')')
            | (Some(Open::Square), ']')
            | (Some(Open::Curly | Open::CurlyWithoutKeys), '}') => Ok(()),
            _ => Err(format!("jq: {sign} closes nothing")),
        }
    }
}

fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::{Language, check};

    #[test]
    fn filters_of_the_input_alone() {
        for filter in [
            ".",
            ".name",
            ".env",
            ".env.PATH",
            ".a.env[0]?",
            "{env: .x, name}",
            "{env, a}",
            "{name, env}",
            "{\"env\": 1, $x}",
            ".[\"env\"]",
            ".[] | select(.env == \"env\") | .name",
            "\"env \\(.name) $ENV\"",
            "\"a \\(.b | \"c \\(.d)\") e\"",
            "def f(x; $y): x + $y; f(.a; 1)",
            "[.[] | {key, value: .value | length}] | sort_by(.key) | .[0:3]",
            "reduce .[] as $x (0; . + $x)",
            ". as {env: $e} | $e",
            "to_entries[] | \"\\(.key)=\\(.value)\"",
            "@base64 \"x\\(.a)\", @tsv",
            ".a # env",
            "if .a then .b elif .c then .d else empty end",
            "..|numbers",
            "try error(\"x\") catch .",
            "[limit(3; .[])], input, inputs, $__loc__, first(.[])",
            ".a // \"b\" | ascii_downcase | test(\"^env\"; \"i\")",
            "label $out | foreach .[] as $i (0; .+1; if . > 3 then break $out else . end)",
            "",
        ] {
            assert!(check(filter, Language::Jq).is_ok(), "{filter}: {:?}", check(filter, Language::Jq));
        }
    }

    #[test]
    fn the_environment_is_found_wherever_it_hides() {
        for filter in [
            "env",
            "env.PATH",
            "$ENV",
            "$ENV.PATH",
            "$ ENV",
            "{$ENV}",
            "{a: env}",
            "{a: 1, (env|tostring): 2}",
            "{a: .b|env, c: 1}",
            ".a|env",
            ".a,env",
            "[.a,env]",
            "\"\\(env)\"",
            "\"\\(\"\\(env)\")\"",
            "1.env",
            "..env",
            ". env",
            ".a-env",
            "{(env.A): 1}",
            "def env: 1; env",
            "(def f: 1; .) | g",
            "import \"a\" as a; a::b",
            "include \"a\"; .",
            "a::env",
            "# \\\nenv",
            "modulemeta",
            "getenv",
            "\"a",
            "(.a",
            ".a)",
            "`x`",
            "{env | a}",
            "[{a: 1}, env]",
            ".a as $x | env",
            "{a:1 ,env#\n}",
            "{a: if .x then .y, env, .z else 1 end}",
            "{a: reduce .x as $i (0; .), env}",
        ] {
            assert!(check(filter, Language::Jq).is_err(), "{filter}");
        }
    }
}
