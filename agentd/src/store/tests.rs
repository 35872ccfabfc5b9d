//! The promises of the journal: what was accepted is there again, whatever fails and wherever it is cut.

use super::fault::{Failure, FaultDisk};
use super::journal::{JOURNAL_FILE, RESERVE_BYTES};
use super::{Journal, StoreError};
use crate::event::Record;
use bytes::Bytes;
use nix::errno::Errno;
use proptest::prelude::*;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

const AT: &str = "2026-11-30T09:41:07.250Z";

struct Temp {
    _dir: tempfile::TempDir,
    session: PathBuf,
}

impl Temp {
    fn new() -> Self {
        // In memory where that is to be had: these tests make thousands of files, and no power is cut.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { session: dir.path().join("ses_1"), _dir: dir }
    }

    fn journal(&self) -> PathBuf {
        self.session.join(JOURNAL_FILE)
    }
}

fn event(text: &str) -> Bytes {
    Bytes::from(serde_json::json!({"type": "notice", "level": "info", "text": text}).to_string())
}

fn reopen(session: &Path) -> Result<(Journal, Vec<Record>), StoreError> {
    let mut records = Vec::new();
    let journal = Journal::open(session, &mut |record| records.push(record.clone()))?;
    Ok((journal, records))
}

fn all(journal: &Journal) -> Vec<Record> {
    journal.reader().read(0, usize::MAX).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Overwrites a file. In place, since truncating first makes some file systems write to the disk.
fn put(path: &Path, bytes: &[u8]) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

/// A journal of `count` records, closed.
fn written(temp: &Temp, count: usize) -> Vec<Record> {
    let journal = Journal::create(&temp.session).unwrap();
    (0..count).map(|n| journal.append(AT, event(&format!("record é {n}"))).unwrap()).collect()
}

#[test]
fn files_are_private_and_created_once() {
    let temp = Temp::new();
    written(&temp, 1);
    assert_eq!(std::fs::metadata(&temp.session).unwrap().mode() & 0o777, 0o700);
    assert_eq!(std::fs::metadata(temp.journal()).unwrap().mode() & 0o777, 0o600);
    assert!(matches!(Journal::create(&temp.session), Err(StoreError::Exists { .. })));
    assert_eq!(reopen(&temp.session).unwrap().1.len(), 1);
}

#[test]
fn a_missing_journal_is_named() {
    let temp = Temp::new();
    let missing = reopen(&temp.session).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
}

#[test]
fn the_file_holds_one_line_per_record_and_nothing_else() {
    let temp = Temp::new();
    let journal = Journal::create(&temp.session).unwrap();
    let record = journal.append(AT, event("hello")).unwrap();
    let expected = crate::event::record::encode_line(&record).unwrap();
    // The reserve takes blocks, not length.
    assert_eq!(std::fs::read(temp.journal()).unwrap(), expected);
    assert_eq!(journal.len_bytes(), expected.len() as u64);
}

#[test]
fn an_event_with_a_line_break_is_refused_and_harms_nothing() {
    let temp = Temp::new();
    let journal = Journal::create(&temp.session).unwrap();
    assert!(matches!(journal.append(AT, Bytes::from_static(b"{\n}")), Err(StoreError::BadEvent { .. })));
    assert_eq!(journal.append(AT, event("next")).unwrap().seq, 1);
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_and_the_rest_is_whole() {
    let temp = Temp::new();
    let records = written(&temp, 6);
    let bytes = std::fs::read(temp.journal()).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    for cut in ends[2]..=bytes.len() {
        put(&temp.journal(), &bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let (journal, recovered) = reopen(&temp.session).unwrap();
        assert_eq!(recovered, records[..whole], "cut at {cut}");
        assert_eq!(std::fs::metadata(temp.journal()).unwrap().len(), ends[whole - 1] as u64);
        assert_eq!(journal.append(AT, event("goes on")).unwrap().seq, whole as u64 + 1);
        assert_eq!(all(&journal).len(), whole + 1);
    }
}

#[test]
fn zeros_behind_the_last_record_are_cut() {
    let temp = Temp::new();
    let records = written(&temp, 2);
    let mut bytes = std::fs::read(temp.journal()).unwrap();
    bytes.extend([0; 5000]);
    put(&temp.journal(), &bytes);
    assert_eq!(reopen(&temp.session).unwrap().1, records);
}

#[test]
fn a_flipped_bit_in_the_middle_is_refused_by_number_and_in_the_last_record_cut() {
    let temp = Temp::new();
    let records = written(&temp, 4);
    let bytes = std::fs::read(temp.journal()).unwrap();
    let starts: Vec<usize> =
        std::iter::once(0).chain((0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1)).collect();
    for record in [2, 4] {
        let line = starts[record - 1]..starts[record];
        let moment = starts[record - 1] + br#"{"seq":1,"at":""#.len();
        for bit in line.start * 8..line.end * 8 {
            if (moment..moment + AT.len()).contains(&(bit / 8)) {
                continue; // the checksum covers the event; a moment is only shown
            }
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            put(&temp.journal(), &flipped);
            match reopen(&temp.session) {
                Err(StoreError::Damaged { record: named, .. }) => assert_eq!((named, record), (2, 2), "bit {bit}"),
                Ok((_, recovered)) => {
                    assert_eq!(record, 4, "bit {bit} of a middle record went unnoticed");
                    assert_eq!(recovered, records[..3], "bit {bit}");
                }
                Err(other) => panic!("bit {bit}: {other}"),
            }
            if record == 2 {
                assert_eq!(std::fs::read(temp.journal()).unwrap(), flipped, "a damaged journal is left as it is");
            }
        }
    }
}

#[test]
fn a_missing_record_in_the_middle_is_refused() {
    let temp = Temp::new();
    written(&temp, 5);
    let text = std::fs::read_to_string(temp.journal()).unwrap();
    let without_third: Vec<&str> =
        text.split_inclusive('\n').enumerate().filter(|(n, _)| *n != 2).map(|(_, line)| line).collect();
    std::fs::write(temp.journal(), without_third.concat()).unwrap();
    let refused = reopen(&temp.session).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { record: 3, .. }), "{refused}");
    assert!(refused.to_string().contains("record 3"), "{refused}");
}

#[test]
fn damage_while_the_journal_is_open_is_noticed_by_readers() {
    let temp = Temp::new();
    let journal = Journal::create(&temp.session).unwrap();
    for n in 0..3 {
        journal.append(AT, event(&format!("text {n}"))).unwrap();
    }
    let text = std::fs::read_to_string(temp.journal()).unwrap();
    std::fs::write(temp.journal(), text.replace("text 1", "tent 1")).unwrap();
    assert_eq!(journal.reader().read(0, 1).unwrap().len(), 1);
    let refused = journal.reader().read(1, usize::MAX).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { record: 2, .. }), "{refused}");
}

#[test]
fn a_reader_keeps_to_its_budget_but_always_gets_on() {
    let temp = Temp::new();
    let records = written(&temp, 100);
    let (journal, _) = reopen(&temp.session).unwrap();
    let reader = journal.reader();
    for budget in [0, 1, 200, 5000] {
        let mut read = Vec::new();
        while read.len() < records.len() {
            let batch = reader.read(read.len() as u64, budget).unwrap();
            let bytes: usize = batch.iter().map(|record| record.event.len()).sum();
            assert!(!batch.is_empty() && (batch.len() == 1 || bytes <= budget));
            read.extend(batch);
        }
        assert_eq!(read, records);
    }
    assert_eq!(reader.read(100, 10).unwrap(), Vec::new());
    assert_eq!(reader.read(u64::MAX, 10).unwrap(), Vec::new());
}

#[test]
fn a_full_disk_takes_closing_events_only_until_there_is_room() {
    let temp = Temp::new();
    let disk = FaultDisk::default();
    let journal = Journal::create_on(&disk, &temp.session).unwrap();
    disk.set_full(true);
    // The space that was taken ahead is used up first.
    let mut accepted = 0;
    let refused = loop {
        match journal.append(AT, event(&"x".repeat(1000))) {
            Ok(_) => accepted += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Full { .. }), "{refused}");
    let refused_at = journal.len_bytes();
    let mut closing = 0;
    while journal.append_closing(AT, event(&"y".repeat(900))).is_ok() {
        closing += 1;
        assert!(matches!(journal.append(AT, event("z")), Err(StoreError::Full { .. })));
    }
    assert!(journal.len_bytes() - refused_at > RESERVE_BYTES - 1100, "{closing} closing events used the reserve");
    disk.set_full(false);
    journal.append(AT, event("room again")).unwrap();
    let records = all(&journal);
    drop(journal);
    assert_eq!(records.len(), accepted + closing + 1);
    assert_eq!(reopen(&temp.session).unwrap().1, records);
}

#[test]
fn without_fallocate_the_journal_works_all_the_same() {
    let temp = Temp::new();
    let journal = Journal::create_on(&FaultDisk::default().without_reserve(), &temp.session).unwrap();
    for n in 0..100 {
        journal.append(AT, event(&format!("{n} {}", "x".repeat(500)))).unwrap();
    }
    assert_eq!(all(&journal).len(), 100);
}

#[test]
fn each_call_may_fail_once_or_for_ever_and_nothing_accepted_is_lost() {
    let failures = [
        Failure::Error(Errno::ENOSPC),
        Failure::Error(Errno::EIO),
        Failure::Error(Errno::EROFS),
        Failure::Short(Errno::ENOSPC),
    ];
    for with_reserve in [true, false] {
        let calls = run_with_fault(with_reserve, None);
        for call in 1..=calls {
            for failure in failures {
                for lasting in [false, true] {
                    run_with_fault(with_reserve, Some((call, failure, lasting)));
                }
            }
        }
    }
}

/// Creates, appends and syncs on a disk with one fault; checks that a reopened journal has what was
/// accepted. Returns the number of calls.
fn run_with_fault(with_reserve: bool, fault: Option<(u64, Failure, bool)>) -> u64 {
    let temp = Temp::new();
    let disk = if with_reserve { FaultDisk::default() } else { FaultDisk::default().without_reserve() };
    if let Some((call, failure, lasting)) = fault {
        disk.fail(call, failure, lasting);
    }
    let journal = match Journal::create_on(&disk, &temp.session) {
        Ok(journal) => journal,
        Err(_) => {
            assert!(!temp.session.exists(), "{fault:?}: a failed creation left something behind");
            return disk.calls();
        }
    };
    let mut accepted = Vec::new();
    let mut unkept = false;
    for n in 0..24 {
        let text = format!("{n} {}", "x".repeat(1700));
        match journal.append(AT, event(&text)) {
            Ok(record) => accepted.push(record),
            Err(error) => assert!(fault.is_some(), "{error}"),
        }
        if n % 8 == 7 {
            unkept |= matches!(block_on(journal.sync()), Err(StoreError::Unkept { .. }));
        }
    }
    let calls = disk.calls();
    disk.mend();
    match journal.append(AT, event("the cause is gone")) {
        Ok(record) => accepted.push(record),
        Err(error) => assert!(unkept && matches!(error, StoreError::Unkept { .. }), "{fault:?}: {error}"),
    }
    accepted.push(journal.append_closing(AT, event("closing works in any case")).unwrap());
    assert_eq!(all(&journal), accepted, "{fault:?}");
    assert_eq!(journal.len_bytes(), std::fs::metadata(temp.journal()).unwrap().len(), "{fault:?}: a scrap was left");
    drop(journal);
    let (_, recovered) = reopen(&temp.session).unwrap();
    assert_eq!(recovered, accepted, "{fault:?}");
    assert!(recovered.iter().zip(1..).all(|(record, seq)| record.seq == seq));
    calls
}

#[test]
fn a_failed_open_changes_nothing() {
    let temp = Temp::new();
    let records = written(&temp, 3);
    let bytes = std::fs::read(temp.journal()).unwrap();
    let disk = FaultDisk::default();
    drop(Journal::open_on(&disk, &temp.session, &mut |_| {}).unwrap());
    for call in 1..=disk.calls() {
        let disk = FaultDisk::default();
        disk.fail(call, Failure::Error(Errno::EIO), false);
        assert!(Journal::open_on(&disk, &temp.session, &mut |_| {}).is_err());
        assert_eq!(std::fs::read(temp.journal()).unwrap(), bytes);
    }
    assert_eq!(reopen(&temp.session).unwrap().1, records);
}

#[test]
fn a_torn_tail_that_can_not_be_cut_is_readable_and_cut_before_the_next_append() {
    let temp = Temp::new();
    let records = written(&temp, 2);
    let mut bytes = std::fs::read(temp.journal()).unwrap();
    bytes.extend_from_slice(b"{\"seq\":3,\"at\":\"2026");
    put(&temp.journal(), &bytes);
    let disk = FaultDisk::default();
    drop(Journal::open_on(&FaultDisk::default(), &temp.session, &mut |_| {}).unwrap());
    put(&temp.journal(), &bytes);
    // Calls of an open: open, length, two reads; then the cut.
    disk.fail(5, Failure::Error(Errno::EROFS), true);
    let journal = Journal::open_on(&disk, &temp.session, &mut |_| {}).unwrap();
    assert!(matches!(journal.append(AT, event("refused")), Err(StoreError::ReadOnly { .. })));
    disk.mend();
    assert_eq!(all(&journal), records);
    journal.append(AT, event("third")).unwrap();
    assert_eq!(reopen(&temp.session).unwrap().1.len(), 3);
}

#[test]
fn after_a_failed_sync_only_closing_events_are_taken_until_the_journal_is_opened_anew() {
    let temp = Temp::new();
    let disk = FaultDisk::default();
    let journal = Journal::create_on(&disk, &temp.session).unwrap();
    journal.append(AT, event("one")).unwrap();
    disk.fail(1, Failure::Error(Errno::EIO), false);
    block_on(async {
        assert!(matches!(journal.sync().await, Err(StoreError::Unkept { .. })));
        // The disk would say yes now, although the first answer was a loss.
        assert!(matches!(journal.sync().await, Err(StoreError::Unkept { .. })));
    });
    assert!(matches!(journal.append(AT, event("two")), Err(StoreError::Unkept { .. })));
    journal.append_closing(AT, event("sorry")).unwrap();
    drop(journal);
    let (journal, records) = reopen(&temp.session).unwrap();
    assert_eq!(records.len(), 2);
    journal.append(AT, event("three")).unwrap();
    block_on(journal.sync()).unwrap();
}

#[test]
fn callers_that_wait_together_share_a_sync() {
    let temp = Temp::new();
    let disk = FaultDisk::default();
    let journal = Journal::create_on(&disk, &temp.session).unwrap();
    journal.append(AT, event("one")).unwrap();
    let before = disk.calls();
    block_on(async {
        let all = futures::future::join_all((0..20).map(|_| journal.sync())).await;
        assert!(all.into_iter().all(|result| result.is_ok()));
        journal.sync().await.unwrap();
    });
    assert_eq!(disk.calls() - before, 1);
    journal.append(AT, event("two")).unwrap();
    block_on(journal.sync()).unwrap();
    assert_eq!(disk.calls() - before, 1 + 2, "a write and a sync of its own");
}

#[derive(Debug, Clone)]
enum Step {
    Append(String),
    Closing(String),
    Sync,
    Reopen,
    Tear(u16),
    Read(u64, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = prop_oneof![".{0,40}", (2000..4000usize).prop_map(|length| "x".repeat(length))];
    let step = prop_oneof![
        8 => text.clone().prop_map(Step::Append),
        1 => text.prop_map(Step::Closing),
        1 => Just(Step::Sync),
        1 => Just(Step::Reopen),
        1 => (1..60u16).prop_map(Step::Tear),
        2 => (0..90u64, 0..9000usize).prop_map(|(after, bytes)| Step::Read(after, bytes)),
    ];
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn any_history_reads_as_it_was_written(steps in steps()) {
        let temp = Temp::new();
        let mut journal = Journal::create(&temp.session).unwrap();
        let mut model: Vec<Record> = Vec::new();
        for step in steps {
            match step {
                Step::Append(text) => model.push(journal.append(AT, event(&text)).unwrap()),
                Step::Closing(text) => model.push(journal.append_closing(AT, event(&text)).unwrap()),
                Step::Sync => block_on(journal.sync()).unwrap(),
                Step::Reopen => {
                    drop(journal);
                    let (opened, records) = reopen(&temp.session).unwrap();
                    prop_assert_eq!(&records, &model);
                    journal = opened;
                }
                Step::Tear(bytes) => {
                    let length = journal.len_bytes().saturating_sub(u64::from(bytes));
                    drop(journal);
                    std::fs::File::options().write(true).open(temp.journal()).unwrap().set_len(length).unwrap();
                    let (opened, records) = reopen(&temp.session).unwrap();
                    // Sixty bytes are less than a record.
                    model.pop();
                    prop_assert_eq!(&records, &model);
                    journal = opened;
                }
                Step::Read(after, bytes) => {
                    let read = journal.reader().read(after, bytes).unwrap();
                    let rest = model.get(usize::try_from(after).unwrap()..).unwrap_or_default();
                    prop_assert_eq!(read.is_empty(), rest.is_empty());
                    prop_assert_eq!(&read[..], &rest[..read.len()]);
                }
            }
            prop_assert_eq!(journal.last_seq(), model.len() as u64);
        }
        prop_assert!(model.iter().zip(1..).all(|(record, seq)| record.seq == seq));
        prop_assert_eq!(all(&journal), model);
    }
}
