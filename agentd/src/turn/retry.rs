//! Whether and when a failed model call is tried again. Only a call of which nothing whole has been
//! streamed is: what was complete may have run.

use super::model_event::FaultKind;

/// The first pause; it doubles with each attempt.
const FIRST_PAUSE_MS: u64 = 500;
/// The longest pause that is not the server's own wish.
const LONGEST_PAUSE_MS: u64 = 8_000;
/// The longest wish of a server that is granted; beyond it a person should decide.
const LONGEST_WISH_MS: u64 = 120_000;
/// Attempts where the host can't be reached: a server that isn't running seldom starts by itself.
const UNREACHABLE_RETRIES: u32 = 3;
/// Attempts where the stream broke off: the same request tends to break again.
const TRUNCATED_RETRIES: u32 = 2;

/// The pause before the next attempt in milliseconds, before jitter; `None` if there is none.
/// `attempts` counts the retries so far, `limit` is the setting `limits.retries`.
#[must_use]
pub fn pause_ms(kind: FaultKind, attempts: u32, limit: u32) -> Option<u64> {
    let (limit, wish) = match kind {
        FaultKind::RateLimited { retry_after_ms } => (limit, Some(retry_after_ms?)),
        FaultKind::Overloaded { retry_after_ms } => (limit, retry_after_ms),
        FaultKind::Unreachable => (limit.min(UNREACHABLE_RETRIES), None),
        FaultKind::Truncated => (limit.min(TRUNCATED_RETRIES), None),
        FaultKind::Authentication
        | FaultKind::NotFound
        | FaultKind::InvalidRequest
        | FaultKind::PromptTooLong
        | FaultKind::Malformed => return None,
    };
    if attempts >= limit {
        return None;
    }
    let backoff = FIRST_PAUSE_MS.saturating_mul(1 << attempts.min(10)).min(LONGEST_PAUSE_MS);
    match wish {
        Some(wish) if wish > LONGEST_WISH_MS => None,
        Some(wish) => Some(wish.max(backoff)),
        None => Some(backoff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_their_limit_and_end() {
        let kind = FaultKind::Overloaded { retry_after_ms: None };
        let pauses: Vec<_> = (0..8).map(|attempts| pause_ms(kind, attempts, 7)).collect();
        let expected = [500, 1000, 2000, 4000, 8000, 8000, 8000].map(Some);
        assert_eq!(pauses, [&expected[..], &[None]].concat());
    }

    #[test]
    fn a_server_may_ask_for_patience_but_not_for_ever() {
        let asks = |ms| pause_ms(FaultKind::RateLimited { retry_after_ms: Some(ms) }, 0, 10);
        assert_eq!(asks(30_000), Some(30_000));
        assert_eq!(asks(1), Some(500));
        assert_eq!(asks(3_600_000), None);
    }

    #[test]
    fn what_will_fail_again_is_not_tried_again() {
        for kind in [
            FaultKind::Authentication,
            FaultKind::NotFound,
            FaultKind::InvalidRequest,
            FaultKind::PromptTooLong,
            FaultKind::Malformed,
            FaultKind::RateLimited { retry_after_ms: None },
        ] {
            assert_eq!(pause_ms(kind, 0, 10), None, "{kind:?}");
        }
        assert_eq!(pause_ms(FaultKind::Unreachable, 3, 10), None);
        assert_eq!(pause_ms(FaultKind::Truncated, 2, 10), None);
        assert_eq!(pause_ms(FaultKind::Unreachable, 0, 0), None);
    }
}
