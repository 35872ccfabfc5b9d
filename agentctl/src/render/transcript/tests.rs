//! What a person sees of which events, without a terminal.

use super::*;
use crate::render::screen::tests::Paper;
use serde_json::{Value, json};

const ALL: Detail = Detail { prompts: true, thinking: true, questions: true, totals: true };

/// What a list of events reads as, written to one stream.
fn shown(detail: Detail, events: &[Value]) -> String {
    let paper = Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, false);
    let mut transcript = Transcript::new(screen, detail);
    for event in events {
        let event: AnyEvent = serde_json::from_value(event.clone()).unwrap();
        assert!(!matches!(event, AnyEvent::Unknown(_)), "{event:?}");
        transcript.event(&event).unwrap();
    }
    drop(transcript);
    paper.read()
}

fn delta(block: u64, kind: &str, offset: u64, text: &str) -> Value {
    json!({"type": "message.delta", "messageId": "m", "block": block, "kind": kind, "offset": offset, "text": text})
}

fn completed(content: Value) -> Value {
    json!({
        "type": "message.completed", "messageId": "m", "turnId": "t", "role": "assistant", "content": content,
        "model": "demo/guide", "stopReason": "end_turn", "usage": {}
    })
}

fn queued(id: &str, title: &str) -> Value {
    json!({
        "type": "tool.queued", "toolCallId": id, "turnId": "t", "tool": "Bash", "input": {}, "title": title,
        "kind": "execute", "readOnly": false, "concurrencySafe": false
    })
}

fn started(id: &str) -> Value {
    let decision = json!({"type": "user", "layer": 9, "detail": "a person said yes"});
    json!({"type": "tool.started", "toolCallId": id, "input": {}, "decision": decision})
}

fn ended(id: &str, status: &str, summary: &str) -> Value {
    json!({
        "type": "tool.ended", "toolCallId": id, "status": status, "isError": status != "completed", "content": [],
        "summary": summary, "durationMs": 1
    })
}

fn turn_ended(reason: &str, error: Option<&str>) -> Value {
    let mut event = json!({
        "type": "turn.ended", "turnId": "t", "reason": reason, "durationMs": 1500,
        "usage": {"inputTokens": 5, "cacheReadTokens": 7, "outputTokens": 3}
    });
    if let Some(message) = error {
        event["error"] = json!({"kind": "unreachable", "message": message});
    }
    event
}

#[test]
fn a_program_gets_each_message_whole_and_none_that_is_void() {
    let paper = Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(std::io::sink()), false, false).whole_messages();
    let mut transcript = Transcript::new(screen, ALL);
    for event in [
        delta(0, "text", 0, "half a sen"),
        json!({"type": "message.tombstoned", "messageId": "m", "reason": "retry"}),
        delta(0, "text", 0, "whole"),
        completed(json!([{"type": "text", "text": "whole"}])),
        turn_ended("completed", None),
    ] {
        transcript.event(&serde_json::from_value(event).unwrap()).unwrap();
    }
    drop(transcript);
    assert_eq!(paper.read(), "whole\n");
}

#[test]
fn of_the_past_only_open_questions_say_how_to_answer_them() {
    let paper = Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, false);
    let mut transcript = Transcript::new(screen, ALL);
    let reason = json!({"type": "mode", "layer": 9, "detail": "it asks"});
    for request in ["r1", "r2"] {
        let asked = json!({
            "type": "permission.requested", "requestId": request, "sessionId": "s", "turnId": "t", "toolCallId": "1",
            "tool": "Bash", "input": {}, "title": "Bash x", "reason": reason, "suggestions": []
        });
        transcript.past(&serde_json::from_value(asked).unwrap()).unwrap();
    }
    let resolved = json!({"type": "permission.resolved", "requestId": "r1", "decision": "allow", "by": "agentctl", "reason": reason});
    transcript.past(&serde_json::from_value(resolved).unwrap()).unwrap();
    assert!(!paper.read().contains("answer it with"));
    transcript.end_past().unwrap();
    let hint = "· allowed by agentctl\n  answer it with: agentctl allow r2, or: agentctl deny r2\n";
    assert!(paper.read().ends_with(hint), "{}", paper.read());
}

#[test]
fn a_change_of_our_own_is_not_told_again() {
    let paper = Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, false);
    let mut transcript = Transcript::new(screen, ALL);
    transcript.own_update(json!({"mode": "plan"}).as_object().unwrap().clone());
    let mut told = |mut event: serde_json::Value| {
        event["type"] = json!("session.updated");
        transcript.event(&serde_json::from_value(event).unwrap()).unwrap();
        paper.read()
    };
    assert_eq!(told(json!({"mode": "plan"})), "");
    told(json!({"mode": "default"}));
    assert_eq!(told(json!({"mode": "plan"})), "· mode is now default\n· mode is now plan\n");
    assert!(told(json!({"trusted": false})).ends_with("\n· this folder is not trusted any more\n"));
}

#[test]
fn each_of_several_changes_of_our_own_is_left_out_once() {
    let paper = Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, false);
    let mut transcript = Transcript::new(screen, ALL);
    for own in [json!({"mode": "default"}), json!({"mode": "plan"}), json!({"trusted": true})] {
        transcript.own_update(own.as_object().unwrap().clone());
    }
    for mut event in [
        json!({"mode": "default"}),
        json!({"model": "demo/guide"}),
        json!({"mode": "plan"}),
        json!({"trusted": true}),
        json!({"mode": "default"}),
    ] {
        event["type"] = json!("session.updated");
        transcript.event(&serde_json::from_value(event).unwrap()).unwrap();
    }
    assert_eq!(paper.read(), "· model is now demo/guide\n· mode is now default\n");
}

#[test]
fn what_runs_is_shown_and_who_changed_it() {
    let mut asked = queued("1", "Bash: rm x");
    asked["input"] = json!({"command": "rm x"});
    let mut runs = started("1");
    runs["input"] = json!({"command": "ls -l"});
    runs["decision"]["detail"] = json!("allowed by the editor, who changed the input");
    let resolved = json!({
        "type": "permission.resolved", "requestId": "r", "decision": "allow", "by": "the editor",
        "reason": runs["decision"]
    });
    let events = [asked, resolved, runs, ended("1", "completed", "12 lines")];
    let expected =
        "· allowed by the editor, who changed the input\n● Bash  ls -l  (edited by the editor)\n  ✓ 12 lines\n";
    assert_eq!(shown(ALL, &events), expected);
}

#[test]
fn streamed_text_is_shown_once() {
    let stream = [
        delta(0, "text", 0, "Hello"),
        delta(0, "text", 5, ", world"),
        completed(json!([{"type": "text", "text": "Hello, world"}])),
    ];
    assert_eq!(shown(ALL, &stream), "Hello, world\n");
}

#[test]
fn what_a_second_attach_repeats_is_shown_once() {
    let stream = [
        delta(0, "text", 0, "Hello"),
        delta(0, "text", 0, "Hello, wor"),
        delta(0, "text", 10, "ld"),
        completed(json!([{"type": "text", "text": "Hello, world"}])),
    ];
    assert_eq!(shown(ALL, &stream), "Hello, world\n");
}

#[test]
fn what_was_dropped_comes_with_the_whole_message() {
    let stream = [
        delta(0, "text", 0, "One "),
        delta(0, "text", 8, "three"),
        completed(json!([{"type": "text", "text": "One two three"}])),
    ];
    assert_eq!(shown(ALL, &stream), "One two three\n");
    let replayed = [completed(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]))];
    assert_eq!(shown(ALL, &replayed), "a\nb\n");
}

#[test]
fn blocks_are_paired_in_order_whatever_their_numbers() {
    let stream = [
        delta(0, "thinking", 0, "hm"),
        delta(2, "text", 0, "yes"),
        completed(json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes!"}])),
    ];
    assert_eq!(shown(ALL, &stream), "hm\nyes!\n");
    assert_eq!(shown(Detail { thinking: false, ..ALL }, &stream), "yes!\n");
}

#[test]
fn a_void_message_says_so_only_if_it_was_seen() {
    let void = json!({"type": "message.tombstoned", "messageId": "m", "reason": "another model takes over"});
    let seen = shown(ALL, &[delta(0, "text", 0, "Hal"), void.clone()]);
    assert_eq!(seen, "Hal\n! the answer above is void: another model takes over\n");
    assert_eq!(shown(ALL, &[void]), "");
}

#[test]
fn a_tool_call_is_a_headline_and_a_result() {
    let calls = [queued("1", "make"), started("1"), ended("1", "completed", "12 lines")];
    assert_eq!(shown(ALL, &calls), "● Bash  make\n  ✓ 12 lines\n");
    let denied = [queued("1", "make"), ended("1", "denied", "")];
    assert_eq!(shown(ALL, &denied), "● Bash  make\n  ⊘ denied\n");
}

#[test]
fn a_change_stands_between_headline_and_result() {
    let change = json!({"type": "file.changed", "path": "/a", "toolCallId": "1", "diff": "-x\n+y"});
    let calls = [queued("1", "Bash: /a"), started("1"), change.clone(), ended("1", "completed", "+1 -1")];
    assert_eq!(shown(ALL, &calls), "● Bash  /a\n  -x\n  +y\n  ✓ +1 -1\n");
    assert_eq!(shown(ALL, &[change]), "· changed /a\n  -x\n  +y\n");
}

#[test]
fn results_of_parallel_calls_name_their_call() {
    let calls = [
        queued("1", "one"),
        queued("2", "two"),
        started("1"),
        started("2"),
        ended("1", "completed", "a"),
        ended("2", "failed", "b"),
    ];
    assert_eq!(shown(ALL, &calls), "● Bash  one\n● Bash  two\n  ✓ Bash one: a\n  ✗ Bash two: b\n");
}

#[test]
fn the_end_of_a_turn_says_why() {
    let detail = Detail { totals: false, ..ALL };
    let table = [
        (turn_ended("completed", None), ""),
        (turn_ended("aborted_tools", None), "⊘ cancelled\n"),
        (turn_ended("model_error", Some("no host x")), "✗ the model failed: no host x\n"),
        (turn_ended("max_turns", None), "⊘ the limit of tool rounds is reached\n"),
        (turn_ended("interrupted", None), "⊘ cut by a restart of agentd\n"),
        (turn_ended("interrupted", Some("It was forked.")), "⊘ cut off: It was forked.\n"),
    ];
    for (event, text) in table {
        assert_eq!(shown(detail, &[event]), text);
    }
    assert_eq!(shown(ALL, &[turn_ended("completed", None)]), "· 1.5 s · 12 tokens in, 3 out\n");
}

/// A prompt that is taken back while it waits ends as a turn: the message under way is not shown twice for that.
#[test]
fn the_end_of_a_prompt_that_waited_is_not_that_of_the_turn_that_runs() {
    let mut taken_back = turn_ended("aborted_streaming", None);
    taken_back["turnId"] = json!("later");
    let events = [
        json!({"type": "turn.started", "turnId": "t", "prompt": "go"}),
        delta(0, "text", 0, "one"),
        taken_back,
        delta(0, "text", 3, " two"),
        completed(json!([{"type": "text", "text": "one two"}])),
        turn_ended("completed", None),
    ];
    let said = shown(Detail { prompts: false, ..ALL }, &events);
    assert_eq!((said.matches("one").count(), said.matches("two").count()), (1, 1), "{said}");
    assert!(said.contains("a prompt that waited was taken back") && !said.contains("cancelled"), "{said}");
}

#[test]
fn a_prompt_is_shown_once_and_not_if_it_is_known() {
    let started = json!({"type": "turn.started", "turnId": "t", "prompt": "do\nit", "client": "x"});
    let queued = json!({"type": "turn.queued", "turnId": "t", "prompt": "do\nit", "client": "x"});
    assert_eq!(shown(ALL, std::slice::from_ref(&started)), "› do\n  it\n");
    assert_eq!(shown(ALL, &[queued, started.clone()]), "› queued: do\n  it\n");
    assert_eq!(shown(Detail { prompts: false, ..ALL }, &[started]), "");
}

#[test]
fn a_prompt_that_waited_is_shown_again_when_its_turn_comes() {
    let started = json!({"type": "turn.started", "turnId": "u", "prompt": "next", "client": "x"});
    let queued = json!({"type": "turn.queued", "turnId": "u", "prompt": "next", "client": "x"});
    let mut interrupts = queued.clone();
    interrupts["interrupts"] = json!(true);
    let detail = Detail { totals: false, ..ALL };
    let said = shown(detail, &[queued, delta(0, "text", 0, "the rest"), turn_ended("completed", None), started]);
    assert_eq!(said, "› queued: next\nthe rest\n› next\n");
    assert_eq!(shown(detail, &[interrupts]), "› ends the turn: next\n");
}

#[test]
fn what_an_answer_is_remembered_as_is_told_with_its_file() {
    let resolved = |source: &str| {
        let reason =
            json!({"type": "user", "layer": 9, "detail": "allowed by x", "rule": "Bash(make)", "source": source});
        json!({"type": "permission.resolved", "requestId": "r", "decision": "allow", "by": "x", "reason": reason})
    };
    assert_eq!(shown(ALL, &[resolved("/w/s.json")]), "· allowed by x, remembered in /w/s.json: Bash(make)\n");
    assert_eq!(shown(ALL, &[resolved("session")]), "· allowed by x, remembered for this session: Bash(make)\n");
    let reason: DecisionReason = serde_json::from_value(resolved("/w/s.json")["reason"].clone()).unwrap();
    let own = told_answer(PermissionDecision::Allow, "x", &reason, true);
    assert_eq!(own.as_deref(), Some("remembered in /w/s.json: Bash(make)"));
    let plain = DecisionReason { rule: None, ..reason };
    assert_eq!(told_answer(PermissionDecision::Deny, "x", &plain, true), None);
}

#[test]
fn nothing_that_a_model_or_tool_says_drives_the_terminal() {
    let evil = "\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}";
    let mut end = ended("1", "failed", evil);
    end["content"] = json!([{"type": "text", "text": format!("{evil}\n{evil}")}]);
    let events = [
        json!({"type": "turn.started", "turnId": "t", "prompt": evil, "client": "x"}),
        delta(0, "thinking", 0, evil),
        delta(1, "text", 0, evil),
        queued("1", evil),
        started("1"),
        json!({"type": "tool.progress", "toolCallId": "1", "stream": "stdout", "offset": 0, "text": evil, "totalBytes": 9}),
        end,
        json!({"type": "file.changed", "path": evil, "toolCallId": "1", "diff": format!("+{evil}")}),
        json!({"type": "notice", "level": "warning", "text": evil}),
        json!({"type": "session.updated", "title": evil}),
        json!({"type": "context.compacted", "trigger": evil, "beforeTokens": 1, "afterTokens": 1, "summary": evil}),
        json!({"type": "model.switched", "from": evil, "to": evil, "reason": evil}),
        turn_ended("model_error", Some(evil)),
    ];
    let text = shown(ALL, &events);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn a_question_names_the_command_that_answers_it() {
    let question = json!({
        "type": "permission.requested", "requestId": "r1", "sessionId": "s", "turnId": "t", "toolCallId": "1",
        "tool": "Edit", "input": {}, "title": "Edit a", "suggestions": [], "preview": {"diff": "+new"},
        "reason": {"type": "mode", "layer": 9, "detail": "the default mode asks"}
    });
    let text = "? Edit a\n  the default mode asks (layer 9)\n  +new\n  answer it with: agentctl allow r1, or: agentctl deny r1\n";
    assert_eq!(shown(ALL, std::slice::from_ref(&question)), text);
    assert_eq!(shown(Detail { questions: false, ..ALL }, &[question]), "");
}

#[test]
fn on_a_terminal_a_running_call_lives_below() {
    let paper = Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, true);
    let mut transcript = Transcript::new(screen, ALL);
    let progress = json!({
        "type": "tool.progress", "toolCallId": "1", "stream": "stdout", "offset": 0, "text": "compiling\n", "totalBytes": 10
    });
    for event in [queued("1", "make"), started("1"), progress] {
        transcript.event(&serde_json::from_value(event).unwrap()).unwrap();
    }
    assert!(paper.read().ends_with("compiling\u{1b}[0m"), "{:?}", paper.read());
    transcript.event(&serde_json::from_value(ended("1", "completed", "ok")).unwrap()).unwrap();
    assert!(paper.read().contains("\r\u{1b}[1A\u{1b}[J"), "{:?}", paper.read());
    assert!(paper.read().ends_with("ok\n"), "{:?}", paper.read());
}
