//! Programs that read text and write it changed, sorted, counted or joined to standard output. Called by the dispatch.

use super::options::options;
use super::{Program, table};

/// From the manuals of GNU coreutils 9 and util-linux 2.40.
pub(super) const PROGRAMS: &[Program] = &[
    table(
        "cat",
        options("AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting")
            .reads()
            .no_option_harms(),
    ),
    table(
        "sort",
        options(
            "bdfgiMhnRrVcCmsuzk:t:S:",
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort \
             human-numeric-sort numeric-sort random-sort random-source=@ reverse sort= version-sort batch-size= check? \
             debug files0-from=@ key= merge stable buffer-size= field-separator= parallel= unique zero-terminated",
        )
        .reads(),
    ),
    table(
        "uniq",
        options(
            "cdDiuzf:s:w:",
            "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated \
             check-chars=",
        )
        .reads()
        .at_most(1)
        .no_option_harms(),
    ),
    table(
        "wc",
        options("cmlLw", "bytes chars lines files0-from=@ max-line-length words total=").reads().no_option_harms(),
    ),
];

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn sort_writes_only_to_standard_output() {
        only_read(&["sort a", "sort -rnk2,2 -t , a", "sort -- -o", "sort src/*", "sort -k …", "sort --key=1 a"]);
        ask(&["sort -o a b", "sort -uo a b", "sort --ou=a", "sort -T x a", "sort *", "sort …", "sort -k… -t -o a"]);
    }

    #[test]
    fn uniq_writes_to_its_second_operand() {
        only_read(&["uniq", "uniq -c a", "uniq -f 1 a", "uniq …"]);
        ask(&["uniq a b", "uniq … b", "uniq *", "uniq -… b", "uniq src/*"]);
    }

    #[test]
    fn what_is_read_is_told() {
        assert_eq!(paths("cat a - src/… *"), ["Read a", "Read src/…", "Read …"]);
        assert_eq!(paths("wc --files0-from=x"), ["Read x"]);
        assert_eq!(paths("cat -…"), ["Read …"]);
    }
}
