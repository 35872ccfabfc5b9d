//! Samples, their median and p90, and the table that comes out at the end. Used by every row; measures
//! nothing itself.

use std::fmt;
use std::time::{Duration, Instant};

/// Milliseconds of a duration.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// From one instant to a later one, in milliseconds; negative the other way round.
pub fn ms_between(from: Instant, to: Instant) -> f64 {
    if to >= from { ms(to - from) } else { -ms(from - to) }
}

/// Values of one kind.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Puts them in order.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        assert!(!values.is_empty(), "no samples");
        Self(values)
    }

    /// Measures something so many times, in milliseconds.
    pub fn timed(count: usize, mut what: impl FnMut()) -> Self {
        Self::new((0..count).map(|_| {
            let start = Instant::now();
            what();
            ms(start.elapsed())
        }))
    }

    /// The value that half of them do not exceed.
    pub fn median(&self) -> f64 {
        self.quantile(50)
    }

    /// The value that nine of ten do not exceed.
    pub fn p90(&self) -> f64 {
        self.quantile(90)
    }

    fn quantile(&self, percent: usize) -> f64 {
        self.0[(self.0.len() * percent).div_ceil(100).max(1) - 1]
    }
}

impl fmt::Display for Samples {
    /// Median, p90 and count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} / {:.2} (n={})", self.median(), self.p90(), self.0.len())
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    lines: Vec<[String; 3]>,
}

impl Report {
    /// Notes a figure, with the budget that it is held to, or none.
    pub fn add(&mut self, what: &str, figure: impl fmt::Display, budget: &str) {
        println!("  {what}: {figure}");
        self.lines.push([what.to_owned(), figure.to_string(), budget.to_owned()]);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | figure | budget |\n|---|---|---|")?;
        for [what, figure, budget] in &self.lines {
            writeln!(f, "| {what} | {figure} | {budget} |")?;
        }
        Ok(())
    }
}
