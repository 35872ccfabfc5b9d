//! Programs that show what files there are, and facts about them. Called by the dispatch. `file -C` writes, `file -m`
//! reads rules from a chosen file, `tree -o` and `tree -R` write: they are not in the tables.

use super::super::analysis::{Access, Doing};
use super::options::{Options, options, refused};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of GNU coreutils 9, file 5.44, tree 2.1, util-linux 2.40 and debianutils.
pub(super) const PROGRAMS: &[Program] = &[
    table("ls dir vdir", LS),
    table("exa eza", EZA),
    code("tree", tree),
    table(
        "stat",
        options("Lc:ft", "dereference file-system cached= format= printf= terse")
            .paths(Access::Look)
            .doing(Doing::List)
            .no_option_harms(),
    ),
    table(
        "file",
        options(
            "be:F:ikLhNn0rl",
            "brief exclude= exclude-quiet= separator= mime apple extension mime-type mime-encoding keep-going \
             dereference no-dereference no-buffer no-pad print0 raw",
        )
        .reads()
        .doing(Doing::List),
    ),
    table(
        "du",
        options(
            "0aB:bcd:DhHklLmPsSt:xX@",
            "null all apparent-size block-size= bytes total dereference-args max-depth= human-readable \
             inodes dereference count-links no-dereference separate-dirs si summarize threshold= time? time-style= \
             exclude-from=@ exclude= one-file-system",
        )
        .lists()
        .no_option_harms(),
    ),
    table(
        "df",
        options(
            "aB:hHiklPt:Tx:",
            "all block-size= human-readable si inodes local no-sync output? portability total type= print-type \
             exclude-type=",
        )
        .paths(Access::Look)
        .no_option_harms(),
    ),
    table(
        "realpath",
        options(
            "emLPqsz",
            "canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip \
             no-symlinks zero",
        )
        .paths(Access::Look)
        .no_option_harms(),
    ),
    table(
        "readlink",
        options(
            "femnqsvz",
            "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
        )
        .paths(Access::Look)
        .no_option_harms(),
    ),
    table("basename", options("as:z", "multiple suffix= zero").no_option_harms()),
    table("dirname", options("z", "zero").no_option_harms()),
    table("pathchk", options("pP", "portability").paths(Access::Look).no_option_harms()),
    table("namei", options("lmnovx", "long modes nosymlinks owners vertical mountpoints").paths(Access::Look)),
    table("lsattr", options("RVadlpv", "").lists()),
    table(
        "getfacl",
        options(
            "acdeEsRLPtpnv",
            "access default omit-header all-effective no-effective recursive logical physical numeric",
        )
        .paths(Access::Look),
    ),
    table("which", options("as", "all").no_option_harms()),
    table("whereis", options("bmsul", "").no_option_harms()),
    table(
        "lsblk",
        options(
            "AaDdE:e:fI:iJlMmnOo:PpST?rstw:x:yz",
            "noempty discard dedup= include= json merge output-all pairs scsi tree? all bytes nodeps exclude= fs ascii \
             list perms noheadings output= paths raw inverse topology width= sort= shell zoned",
        )
        .paths(Access::Look),
    ),
    table(
        "findmnt",
        options(
            "smkAabCcDd:efiJlnO:o:PRrS:T:M:t:Uuvy",
            "fstab mtab kernel all ascii bytes nocanonicalize canonicalize df direction= evaluate first-only invert \
             json list noheadings options= output= output-all pairs pseudo shadowed submounts raw real source= target= \
             tree mountpoint= types= uniq notruncate nofsroot shell vfs-all",
        )
        .paths(Access::Look),
    ),
    // With an operand it mounts.
    table("mount", options("lvt:", "show-labels verbose types=").at_most(0)),
    table("lsmod", options("", "").at_most(0)),
    table("lsusb", options("tvd:s:", "tree verbose").at_most(0)),
    table("lspci", options("vnkDtmxbs:d:", "").at_most(0)),
];

const LS: Options = options(
    "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1",
    "all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= \
     full-time group-directories-first no-group human-readable si dereference-command-line \
     dereference-command-line-symlink-to-dir hide= hyperlink? indicator-style= inode ignore= kibibytes dereference \
     numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size \
     sort= time= time-style= tabsize= width= context zero",
)
.lists()
.no_option_harms();

const EZA: Options = options(
    "1lGxFRTdaAs:rDL:hHibBgmnSuUI:t:",
    "oneline long grid across classify recurse tree level= all almost-all reverse sort= only-dirs group-directories-first \
     git-ignore ignore-glob= binary bytes group header inode modified numeric icons color= colour= no-user no-time \
     no-permissions no-filesize git no-git time= time-style= total-size",
)
.lists();

const TREE: Options = options(
    "adlfxL:P:I:qNQpugshDFvtcUriASnCXJ",
    "matchdirs prune noreport filelimit= filesfirst dirsfirst sort= charset= timefmt= gitignore gitfile=@ info \
     infofile=@ ignore-case du si inodes device metafirst",
)
.lists()
.no_dashed_values();

/// `tree` takes the value of a short option from the next word even if the option has text attached, which it reads as
/// further options; only `-L2` is an exception, of late.
fn tree(name: &str, args: &[Arg]) -> Judgement {
    let attached = args.iter().find(|word| {
        let (text, whole) = match word {
            Arg::Literal(text) => (text, true),
            Arg::One(text) | Arg::Many(text) => (text, false),
        };
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        letters.find(['L', 'P', 'I']).is_some_and(|at| !whole || at + 1 < letters.len())
    });
    match attached {
        Some(word) => Judgement::Unknown(refused(name, word)),
        None => TREE.judge(name, args),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn files_are_listed() {
        only_read(&[
            "ls",
            "ls -la",
            "ls -lah src/",
            "ls -lt *",
            "ls --color=never -1 …",
            "du -sh .",
            "du -h --max-depth=1",
        ]);
        only_read(&["du -ad1 *", "df -h", "df -hT /", "stat a", "stat -c %s a", "stat --format=%n *", "stat -f ."]);
        only_read(&["realpath a", "readlink -f …", "basename a .rs", "dirname …", "pathchk a", "which -a python3"]);
        only_read(&["whereis ls", "lsblk -f", "findmnt -T .", "mount", "mount -t ext4", "lsmod", "namei -l /a/b"]);
        assert_eq!(paths("ls"), ["Look ."]);
        assert_eq!(paths("du -X x src"), ["Read x", "Look src"]);
        assert_eq!(paths("basename /a/b"), [""; 0]);
    }

    #[test]
    fn only_known_options_of_file() {
        only_read(&["file a", "file -b --mime-type a", "file -i src/*", "file -- …", "file -L a"]);
        ask(&["file -m x a", "file -C -m x", "file --compile", "file -f names", "file -z a", "file *", "file …"]);
    }

    #[test]
    fn tree_reads_values_from_the_next_word() {
        only_read(&[
            "tree",
            "tree -L 2",
            "tree -a -I target|.git -L 3",
            "tree -d src",
            "tree -aL 2",
            "tree --gitignore",
        ]);
        only_read(&["tree -h --du src", "tree -P x --prune", "tree -J -L 1"]);
        ask(&[
            "tree -o x",
            "tree -ao x",
            "tree -R -H x",
            "tree *",
            "tree …",
            "tree -Io x y",
            "tree -LoP 2 x y",
            "tree -Io… -L 2",
        ]);
        ask(&["tree -R", "tree --output=x", "tree -Ho x", "tree --fromfile x", "tree $x -o …"]);
    }

    #[test]
    fn mounts_are_shown_only() {
        ask(&[
            "mount /dev/sda1 /mnt",
            "mount -a",
            "mount -o remount,rw /",
            "mount --bind a b",
            "lspci -F x",
            "lspci -q",
        ]);
    }
}
