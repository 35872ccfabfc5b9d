//! What a call of a model costs, by the price in the settings. Called by the decoders of the wire formats with
//! every report of tokens. Knows no prices of its own: they change, and a wrong one is worse than none. Pure.

use super::endpoint::Endpoint;
use crate::config::Price;
use crate::turn::model_event::ModelEvent;
use proto::session::{Cost, Usage};
use std::collections::VecDeque;

/// Prices are per so many tokens.
const PER_TOKENS: f64 = 1_000_000.0;

/// Gives out the tokens of a call so far, and what they cost where that is known.
pub(super) fn report(endpoint: &Endpoint, usage: Usage, out: &mut VecDeque<ModelEvent>) {
    out.push_back(ModelEvent::Usage(usage));
    out.extend(endpoint.price.map(|price| ModelEvent::Cost(cost(&price, &usage))));
}

fn cost(price: &Price, usage: &Usage) -> Cost {
    let parts = [
        (usage.input_tokens, price.input),
        (usage.output_tokens, price.output),
        (usage.cache_read_tokens, price.cache_read.unwrap_or(price.input)),
        (usage.cache_write_tokens, price.cache_write.unwrap_or(price.input)),
    ];
    // No answer has so many tokens that a float could not hold their number.
    Cost { usd: parts.iter().map(|(tokens, price)| *tokens as f64 * price / PER_TOKENS).sum() }
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::for_tests;
    use super::*;

    fn usage() -> Usage {
        Usage {
            input_tokens: 1_000_000,
            output_tokens: 500_000,
            cache_read_tokens: 2_000_000,
            cache_write_tokens: 100_000,
            ..Usage::default()
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let full = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        let plain = Price { input: 3.0, output: 15.0, cache_read: None, cache_write: None };
        let free_cache = Price { cache_read: Some(0.0), cache_write: Some(0.0), ..full };
        for (price, usd) in [(full, 11.475), (plain, 16.8), (free_cache, 10.5), (Price::default(), 0.0)] {
            let told = cost(&price, &usage()).usd;
            assert!((told - usd).abs() < 1e-9, "{price:?}: {told}");
        }
    }

    #[test]
    fn the_cost_follows_the_tokens_and_is_left_out_without_a_price() {
        let mut endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "k");
        let mut out = VecDeque::new();
        report(&endpoint, usage(), &mut out);
        assert_eq!(Vec::from(std::mem::take(&mut out)), [ModelEvent::Usage(usage())]);
        endpoint.price = Some(Price { input: 1.0, ..Price::default() });
        report(&endpoint, Usage { input_tokens: 2_000_000, ..Usage::default() }, &mut out);
        assert_eq!(out.back(), Some(&ModelEvent::Cost(Cost { usd: 2.0 })));
    }
}
