//! New identifiers: random, short enough to type a prefix of.

use uuid::Uuid;

/// Sixteen random hexadecimal digits after a prefix that tells people what the id names, such as
/// `ses_9f86d081884c7d65`.
#[must_use]
pub fn fresh<T: From<String>>(prefix: &str) -> T {
    let digits = Uuid::new_v4().simple().to_string();
    T::from(format!("{prefix}_{}", digits.get(..16).unwrap_or(&digits)))
}
