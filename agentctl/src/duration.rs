//! Durations as people type and read them: `90`, `90s`, `5m`. Used by arguments and by output.

use std::time::Duration;

/// Reads seconds, or a number with a unit, or several: `90`, `1.5s`, `500ms`, `5m`, `1h 30m`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || format!("'{text}' is no duration: give seconds or a unit, such as 90, 90s or 5m");
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| wrong());
    }
    if let Some(number) = text.strip_suffix('s').and_then(|number| number.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(number).map_err(|_| wrong());
    }
    humantime::parse_duration(text).map_err(|_| wrong())
}

/// Shows milliseconds in the two units that matter: `350 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`.
pub fn show(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Shows an age in one unit: `5s`, `12m`, `3h`, `8d`.
pub fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_type() {
        let table = [
            ("90", Some(90_000)),
            ("90s", Some(90_000)),
            ("5m", Some(300_000)),
            ("1.5", Some(1_500)),
            ("0.25s", Some(250)),
            ("500ms", Some(500)),
            ("1h 30m", Some(5_400_000)),
            ("0", Some(0)),
            (" 2s ", Some(2_000)),
            ("", None),
            ("-1", None),
            ("soon", None),
            ("5 parsecs", None),
            ("inf", None),
            ("NaN", None),
        ];
        for (text, ms) in table {
            assert_eq!(parse(text).ok(), ms.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn shows_the_units_that_matter() {
        let table = [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (3_290, "3.2 s"),
            (59_999, "59.9 s"),
            (250_000, "4 min 10 s"),
            (7_500_000, "2 h 5 min"),
        ];
        for (ms, text) in table {
            assert_eq!(show(ms), text);
        }
    }

    #[test]
    fn shows_ages_in_one_unit() {
        for (seconds, text) in [(0, "0s"), (59, "59s"), (60, "1m"), (7_199, "1h"), (86_400, "1d")] {
            assert_eq!(age(Duration::from_secs(seconds)), text);
        }
    }
}
