//! The budget of a round: how much text its results hold together, and which of them has to go to a file. A value,
//! without text or files.

use proto::ids::ToolCallId;

/// The sizes of a round's results, in characters.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    results: Vec<Reserved>,
}

#[derive(Debug)]
struct Reserved {
    call: ToolCallId,
    chars: usize,
    movable: bool,
}

impl Budget {
    /// An empty one.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, results: Vec::new() }
    }

    /// Reserves the room of a result.
    pub(super) fn reserve(&mut self, call: ToolCallId, chars: usize, movable: bool) {
        self.results.push(Reserved { call, chars, movable });
    }

    /// The result that has to go: the largest that can, as long as all are too much together (row X13). Of
    /// equals, the one that ended first.
    pub(super) fn must_go(&self) -> Option<&ToolCallId> {
        let total: usize = self.results.iter().map(|result| result.chars).sum();
        if total <= self.limit {
            return None;
        }
        let movable = self.results.iter().rev().filter(|result| result.movable);
        movable.max_by_key(|result| result.chars).map(|result| &result.call)
    }

    /// Takes note of what is left of a result that went.
    pub(super) fn shrink(&mut self, call: &ToolCallId, chars: usize) {
        for result in self.results.iter_mut().filter(|result| result.call == *call) {
            result.chars = chars;
            result.movable = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(limit: usize, sizes: &[(&str, usize)]) -> Vec<String> {
        let mut budget = Budget::new(limit);
        let mut gone = Vec::new();
        for (call, chars) in sizes {
            budget.reserve((*call).into(), *chars, *chars > 10);
            while let Some(call) = budget.must_go().cloned() {
                budget.shrink(&call, 10);
                gone.push(call.0);
            }
        }
        gone
    }

    /// Row X13: of three results over the budget the biggest goes, in whatever order they end.
    #[test]
    fn the_biggest_goes() {
        for order in
            [["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"], ["c", "a", "b"], ["c", "b", "a"]]
        {
            let sizes = order.map(|call| {
                (
                    call,
                    match call {
                        "a" => 40,
                        "b" => 70,
                        _ => 30,
                    },
                )
            });
            assert_eq!(round(100, &sizes), ["b"], "{order:?}");
        }
    }

    #[test]
    fn the_limit_itself_is_within_it() {
        assert_eq!(round(100, &[("a", 50), ("b", 50)]), Vec::<String>::new());
        assert_eq!(round(100, &[("a", 50), ("b", 51)]), ["b"]);
        assert_eq!(round(100, &[("a", 51), ("b", 51)]), ["a"], "of equals the first");
        assert_eq!(round(100, &[("a", 101)]), ["a"], "one alone too");
    }

    #[test]
    fn more_than_one_may_have_to_go_and_small_ones_never_do() {
        assert_eq!(round(60, &[("a", 30), ("b", 20), ("c", 40), ("d", 10), ("e", 55)]), ["c", "a", "e"]);
        assert_eq!(round(5, &[("a", 9), ("b", 9)]), Vec::<String>::new());
    }
}
