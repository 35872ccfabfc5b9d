//! The promises of the fan-out: the whole log, each event once and in order, for any number of clients at
//! any pace; the live view without a gap or an overlap; bounded memory whoever does not read.

use super::fanout::{Fanout, Limits};
use super::subscription::{Delivery, Subscription};
use super::{BeyondEnd, fanout};
use crate::base::limits::ATTACH_OUTPUT_TAIL_BYTES;
use crate::event::Record;
use crate::event::record::encode;
use crate::store::Journal;
use futures::FutureExt;
use proptest::prelude::*;
use proto::event::{DeltaKind, Ephemeral, Event, NoticeLevel, ProgressStream, Role, ToolEndedDetails, ToolStatus};
use proto::session::Usage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const AT: &str = "2026-11-30T09:41:07.250Z";

/// A session: its log, and what was said of each message and tool call.
struct World {
    _dir: tempfile::TempDir,
    journal: Journal,
    fanout: Arc<Fanout>,
    log: Vec<Record>,
    parts: BTreeMap<String, Said>,
    messages: u64,
    calls: u64,
}

/// All text of one message or call, and after which durable event each piece of it came.
#[derive(Default)]
struct Said {
    text: String,
    pieces: Vec<(usize, u64)>,
}

impl Said {
    /// The durable event after which the byte before `end` was said.
    fn after(&self, end: usize) -> u64 {
        self.pieces.iter().find(|(piece_end, _)| *piece_end >= end).unwrap().1
    }
}

impl World {
    fn new(limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::create(&dir.path().join("ses_1")).unwrap();
        let fanout = Fanout::with_limits("ses_1".into(), journal.reader(), limits);
        let (log, parts) = (Vec::new(), BTreeMap::new());
        Self { _dir: dir, journal, fanout, log, parts, messages: 0, calls: 0 }
    }

    fn append(&mut self, event: &Event) {
        let record = self.journal.append(AT, encode(event).unwrap()).unwrap();
        self.fanout.durable(&record);
        self.log.push(record);
    }

    fn note(&mut self, text: &str) {
        self.append(&Event::Notice { level: NoticeLevel::Info, text: text.to_owned() });
    }

    fn say(&mut self, text: &str) {
        let id = format!("m{}", self.messages);
        let offset = self.said(&id, text);
        let (block, kind, text) = (0, DeltaKind::Text, text.to_owned());
        self.fanout.ephemeral(AT, &Ephemeral::MessageDelta { message_id: id.into(), block, kind, offset, text });
    }

    fn print(&mut self, text: &str) {
        let id = format!("c{}", self.calls);
        let offset = self.said(&id, text);
        let (stream, total_bytes, text) = (ProgressStream::Stdout, offset + text.len() as u64, text.to_owned());
        let tool_call_id = id.into();
        self.fanout.ephemeral(AT, &Ephemeral::ToolProgress { tool_call_id, stream, offset, text, total_bytes });
    }

    fn said(&mut self, id: &str, text: &str) -> u64 {
        let said = self.parts.entry(id.to_owned()).or_default();
        let offset = said.text.len() as u64;
        said.text.push_str(text);
        said.pieces.push((said.text.len(), self.log.len() as u64));
        offset
    }

    fn complete_message(&mut self) {
        let message_id = format!("m{}", self.messages).into();
        self.messages += 1;
        self.append(&Event::MessageCompleted {
            message_id,
            turn_id: "turn_1".into(),
            role: Role::Assistant,
            content: Vec::new(),
            model: "demo/guide".to_owned(),
            stop_reason: "end_turn".to_owned(),
            usage: Usage::default(),
            cost: None,
        });
    }

    fn end_call(&mut self) {
        let tool_call_id = format!("c{}", self.calls).into();
        self.calls += 1;
        self.append(&Event::ToolEnded {
            tool_call_id,
            status: ToolStatus::Completed,
            is_error: false,
            content: Vec::new(),
            summary: String::new(),
            persisted_path: None,
            duration_ms: 1,
            cause: None,
            details: ToolEndedDetails::default(),
        });
    }

    fn subscribe(&self, after_seq: u64, ephemeral: bool) -> Client {
        let subscription = self.fanout.subscribe(after_seq, ephemeral).unwrap();
        let (texts, closed) = (BTreeMap::new(), BTreeSet::new());
        Client { subscription, ephemeral, next: after_seq + 1, texts, closed, dropped: 0 }
    }
}

/// A client that checks all it gets.
struct Client {
    subscription: Subscription,
    ephemeral: bool,
    /// The next durable event that is due.
    next: u64,
    /// What it was told of each message and call under way.
    texts: BTreeMap<String, String>,
    closed: BTreeSet<String>,
    dropped: u64,
}

impl Client {
    /// Takes what is there at once; the rest of a read under way is left for the next time.
    fn poll(&mut self, world: &World) -> bool {
        let delivery = self.subscription.next().now_or_never();
        let came = delivery.is_some();
        if let Some(delivery) = delivery {
            self.check(world, delivery);
        }
        came
    }

    /// Takes events until nothing durable is missing and nothing else is there.
    async fn catch_up(&mut self, world: &World) {
        while self.next <= world.log.len() as u64 {
            let delivery = self.subscription.next().await;
            self.check(world, delivery);
        }
        while self.poll(world) {}
    }

    fn check(&mut self, world: &World, delivery: Delivery) {
        match delivery {
            Delivery::Durable(record) => {
                assert_eq!(record, world.log[usize::try_from(self.next).unwrap() - 1]);
                self.next += 1;
                assert_eq!(self.subscription.cursor(), record.seq);
                match record.decode().unwrap() {
                    Event::MessageCompleted { message_id, .. } => self.close(world, message_id.as_str()),
                    Event::ToolEnded { tool_call_id, .. } => self.close(world, tool_call_id.as_str()),
                    _ => {}
                }
            }
            Delivery::Ephemeral(at, bytes) => {
                assert!(self.ephemeral);
                assert_eq!(at, AT);
                match serde_json::from_slice(&bytes).unwrap() {
                    Ephemeral::MessageDelta { message_id, offset, text, .. } => {
                        self.piece(world, message_id.as_str(), offset, &text);
                    }
                    Ephemeral::ToolProgress { tool_call_id, offset, text, .. } => {
                        self.piece(world, tool_call_id.as_str(), offset, &text);
                    }
                    Ephemeral::QueueLagged { dropped } => self.dropped += dropped,
                    Ephemeral::UsageUpdated { .. } => {}
                }
            }
            Delivery::Ended => panic!("it has not ended"),
        }
    }

    /// A piece goes on exactly where the last one ended, and comes between its durable neighbours.
    fn piece(&mut self, world: &World, id: &str, offset: u64, text: &str) {
        assert!(!self.closed.contains(id), "{id} is closed");
        let told = self.texts.entry(id.to_owned()).or_default();
        assert_eq!(offset, told.len() as u64, "{id}: a gap or an overlap");
        let said = &world.parts[id];
        told.push_str(text);
        assert!(said.text.starts_with(told.as_str()));
        let replay_to = self.subscription.replay_to();
        for end in [told.len() - text.len() + 1, told.len()] {
            assert_eq!(self.subscription.cursor(), said.after(end).max(replay_to), "{id}: out of order");
        }
    }

    fn close(&mut self, world: &World, id: &str) {
        self.closed.insert(id.to_owned());
        if let Some(told) = self.texts.remove(id) {
            assert!(world.parts[id].text.starts_with(&told));
        }
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn small() -> Limits {
    Limits { tail_records: 3, tail_bytes: 1000, pending_bytes: 1 << 20 }
}

#[derive(Debug, Clone)]
enum Act {
    Note(usize),
    Say(String),
    Print(String),
    CompleteMessage,
    EndCall,
    Subscribe { share: u64, ephemeral: bool },
    Poll(usize),
    CatchUp(usize),
    Leave(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..400usize).prop_map(Act::Note),
        4 => ".{1,12}".prop_map(Act::Say),
        2 => ".{1,12}".prop_map(Act::Print),
        1 => Just(Act::CompleteMessage),
        1 => Just(Act::EndCall),
        2 => (0..=100u64, any::<bool>()).prop_map(|(share, ephemeral)| Act::Subscribe { share, ephemeral }),
        8 => (0..20usize).prop_map(Act::Poll),
        3 => (0..20usize).prop_map(Act::CatchUp),
        1 => (0..20usize).prop_map(Act::Leave),
    ];
    proptest::collection::vec(act, 1..150)
}

async fn perform(acts: Vec<Act>) {
    let mut world = World::new(small());
    let mut clients: Vec<Client> = Vec::new();
    let mut attentive = world.subscribe(0, true);
    for act in acts {
        match act {
            Act::Note(length) => world.note(&"n".repeat(length)),
            Act::Say(text) => world.say(&text),
            Act::Print(text) => world.print(&text),
            Act::CompleteMessage => world.complete_message(),
            Act::EndCall => world.end_call(),
            Act::Subscribe { share, ephemeral } => {
                clients.push(world.subscribe(world.log.len() as u64 * share / 100, ephemeral));
            }
            Act::Poll(n) => {
                if let Some(client) = clients.get_mut(n) {
                    client.poll(&world);
                }
            }
            Act::CatchUp(n) => {
                if let Some(client) = clients.get_mut(n) {
                    client.catch_up(&world).await;
                }
            }
            Act::Leave(n) if n < clients.len() => drop(clients.swap_remove(n)),
            Act::Leave(_) => {}
        }
        attentive.catch_up(&world).await;
    }
    assert_eq!(world.fanout.subscribers(), clients.len() + 1);
    let open = [format!("m{}", world.messages), format!("c{}", world.calls)];
    clients.push(attentive);
    clients.push(world.subscribe(world.log.len() as u64, true));
    for client in &mut clients {
        client.catch_up(&world).await;
        assert_eq!(client.next, world.log.len() as u64 + 1);
        assert_eq!(client.dropped, 0);
        // What is under way has been told from its first byte to its last.
        for id in open.iter().filter(|id| client.ephemeral && world.parts.contains_key(*id)) {
            assert_eq!(client.texts[id], world.parts[id].text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn replay_and_live_are_the_whole_log_once_and_in_order(acts in acts()) {
        run(perform(acts));
    }
}

#[test]
fn a_position_beyond_the_end_is_refused() {
    let mut world = World::new(small());
    world.note("one");
    let refused = world.fanout.subscribe(2, true).unwrap_err();
    assert_eq!(refused, BeyondEnd { after_seq: 2, last_seq: 1 });
    assert!(refused.to_string().contains("last event is 1"));
}

#[test]
fn a_fanout_of_an_old_log_replays_it() {
    run(async {
        let mut world = World::new(small());
        for n in 0..300 {
            world.note(&format!("{n} {}", "x".repeat(700)));
        }
        world.fanout = Fanout::new("ses_1".into(), world.journal.reader());
        let mut client = world.subscribe(7, true);
        assert_eq!(client.subscription.replay_to(), 300);
        client.catch_up(&world).await;
        assert_eq!(client.next, 301);
    });
}

#[test]
fn what_is_in_the_file_but_not_announced_is_not_handed_out() {
    run(async {
        let mut world = World::new(small());
        world.note("one");
        let mut client = world.subscribe(0, true);
        let early = world.journal.append(AT, encode(&Event::SessionClosed {}).unwrap()).unwrap();
        client.catch_up(&world).await;
        world.say("between");
        world.fanout.durable(&early);
        world.log.push(early);
        client.catch_up(&world).await;
        assert_eq!(client.texts["m0"], "between");
    });
}

#[test]
fn a_waiting_subscriber_is_woken() {
    run(async {
        let mut world = World::new(small());
        let mut client = world.subscribe(0, true);
        // Polled first, so that it waits when the event comes.
        let (delivery, ()) = futures::future::join(client.subscription.next(), async { world.note("news") }).await;
        assert!(matches!(delivery, Delivery::Durable(record) if record.seq == 1));
        let (delivery, ()) = futures::future::join(client.subscription.next(), async { world.say("hi") }).await;
        assert!(matches!(delivery, Delivery::Ephemeral(..)));
        let (delivery, ()) = futures::future::join(client.subscription.next(), async { world.fanout.end() }).await;
        assert!(matches!(delivery, Delivery::Ended));
    });
}

#[test]
fn an_event_that_is_not_joined_is_encoded_once_for_all() {
    let mut world = World::new(small());
    let mut clients: Vec<Client> = (0..3).map(|_| world.subscribe(0, true)).collect();
    world.say("shared");
    let places: BTreeSet<*const u8> = clients
        .iter_mut()
        .map(|client| match client.subscription.next().now_or_never() {
            Some(Delivery::Ephemeral(_, bytes)) => bytes.as_ptr(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(places.len(), 1);
}

#[test]
fn pieces_that_wait_are_joined() {
    let mut world = World::new(small());
    let mut client = world.subscribe(0, true);
    for text in ["Grüß", "e, ", "Welt"] {
        world.say(text);
    }
    assert!(client.poll(&world));
    assert_eq!(client.texts["m0"], "Grüße, Welt");
    assert!(!client.poll(&world));
}

#[test]
fn what_a_completed_message_repeats_is_not_sent_before_it() {
    let mut world = World::new(small());
    let mut client = world.subscribe(0, true);
    world.print("stays");
    world.say("goes");
    world.complete_message();
    assert!(client.poll(&world));
    assert_eq!(client.texts.keys().collect::<Vec<_>>(), ["c0"]);
    assert!(client.poll(&world));
    assert_eq!(client.next, 2);
}

#[test]
fn a_late_client_gets_the_text_so_far_after_the_replay_and_then_goes_on() {
    run(async {
        let mut world = World::new(small());
        world.note("one");
        world.say("Once upon ");
        world.note("two");
        world.say("a time");
        let mut late = world.subscribe(0, true);
        world.say(" there was");
        late.catch_up(&world).await;
        assert_eq!(late.texts["m0"], "Once upon a time there was");
        world.say(" an end.");
        late.catch_up(&world).await;
        assert_eq!(late.texts["m0"], world.parts["m0"].text);
    });
}

#[test]
fn a_late_client_gets_the_end_of_long_output_at_its_true_offset() {
    let mut world = World::new(small());
    for n in 0..40_000 {
        world.print(&format!("line {n} é\n"));
    }
    let mut late = world.subscribe(0, true);
    let Some(Delivery::Ephemeral(_, bytes)) = late.subscription.next().now_or_never() else { panic!("no output") };
    let Ok(Ephemeral::ToolProgress { offset, text, total_bytes, .. }) = serde_json::from_slice(&bytes) else {
        panic!("not output")
    };
    let said = &world.parts["c0"].text;
    assert_eq!(&said[usize::try_from(offset).unwrap()..], text);
    assert_eq!(total_bytes, said.len() as u64);
    assert!(text.len() <= ATTACH_OUTPUT_TAIL_BYTES && text.len() > ATTACH_OUTPUT_TAIL_BYTES - 4);
}

#[test]
fn past_the_limit_ephemeral_events_are_dropped_and_counted_and_durable_ones_are_not() {
    run(async {
        let mut world = World::new(Limits { pending_bytes: 2000, ..small() });
        let mut slow = world.subscribe(0, true);
        for n in 0..50 {
            world.note("durable");
            world.say(&format!("{n} "));
        }
        let (mut durable, mut pieces, mut dropped) = (0, 0, 0);
        while durable < 50 || pieces + dropped < 50 {
            match slow.subscription.next().await {
                Delivery::Durable(record) => {
                    durable += 1;
                    assert_eq!(record.seq, durable);
                }
                Delivery::Ephemeral(_, bytes) => match serde_json::from_slice(&bytes).unwrap() {
                    Ephemeral::QueueLagged { dropped: more } => dropped += more,
                    _ => pieces += 1,
                },
                Delivery::Ended => panic!("it has not ended"),
            }
        }
        assert!(dropped > 30 && pieces > 2, "{dropped} dropped, {pieces} handed out");
        assert!(slow.subscription.next().now_or_never().is_none());
    });
}

#[test]
fn a_client_that_never_reads_costs_no_more_than_its_limit() {
    run(async {
        let limits = Limits { pending_bytes: 64 << 10, ..small() };
        let mut world = World::new(limits);
        let mut clients: Vec<Client> = (0..99).map(|_| world.subscribe(0, true)).collect();
        let stuck = world.subscribe(0, true);
        for n in 0..300 {
            world.note(&"x".repeat(2000));
            world.say(&format!("{n} {}", "y".repeat(1000)));
            if n % 100 == 99 {
                world.complete_message();
            }
            for client in &mut clients {
                client.catch_up(&world).await;
                assert_eq!(client.dropped, 0, "a stuck neighbour costs nobody an event");
            }
            assert!(fanout::held_bytes(&world.fanout) <= limits.pending_bytes + limits.tail_bytes);
        }
        drop(stuck);
        assert_eq!(world.fanout.subscribers(), 99);
    });
}

#[test]
fn a_client_is_overrun_only_after_it_had_caught_up() {
    run(async {
        let mut world = World::new(small());
        for _ in 0..20 {
            world.note(&"x".repeat(1000));
        }
        let mut client = world.subscribe(0, false);
        world.note(&"x".repeat(1000));
        assert!(client.subscription.overrun(500).now_or_never().is_none(), "a replay is not counted");
        client.catch_up(&world).await;
        assert!(client.subscription.overrun(500).now_or_never().is_none());

        world.note(&"x".repeat(400));
        assert!(client.subscription.overrun(500).now_or_never().is_none());
        let overrun = client.subscription.overrun(500);
        futures::future::join(overrun, async { world.note(&"x".repeat(400)) }).await;
        assert!(client.subscription.overrun(500).now_or_never().is_some());
        assert!(client.subscription.overrun(5000).now_or_never().is_none());

        assert!(matches!(client.subscription.next().await, Delivery::Durable(_)));
        assert!(client.subscription.overrun(500).now_or_never().is_none(), "one event further it is within the limit");
    });
}

#[test]
fn a_deleted_session_hands_out_what_is_there_and_ends() {
    run(async {
        let mut world = World::new(small());
        for n in 0..20 {
            world.note(&n.to_string());
        }
        world.say("last words");
        let mut client = world.subscribe(0, true);
        world.fanout.end();
        for _ in 0..21 {
            let delivery = client.subscription.next().await;
            client.check(&world, delivery);
        }
        assert_eq!(client.texts["m0"], "last words");
        for _ in 0..2 {
            assert!(matches!(client.subscription.next().await, Delivery::Ended));
        }
    });
}
