//! A question at the terminal: what a person sees of it, and what each key does.

use serde_json::{Value, json};
use std::path::Path;
use tests::{Client, Daemon, ModelServer, Pty, Reply, binary};

fn bash(command: &str) -> Value {
    json!({"command": command})
}

fn chat(daemon: &Daemon) -> Pty {
    Pty::start(daemon.home(), &binary("agentctl"), &["chat", "go"])
}

/// The same with a person's editor.
fn chat_with_editor(daemon: &Daemon, editor: &str) -> Pty {
    let (editor, agentctl) = (format!("VISUAL={editor}"), binary("agentctl"));
    let arguments = [editor.as_str(), agentctl.to_str().unwrap(), "chat", "go"];
    Pty::start(daemon.home(), Path::new("/usr/bin/env"), &arguments)
}

/// Leaves between two turns.
fn leave(mut chat: Pty) {
    chat.expect("› ");
    chat.send("/quit\r");
    assert_eq!(chat.wait(), Some(0));
}

#[test]
fn every_character_of_a_command_is_shown() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let hidden = format!("touch a{}\u{202e}b\ttrue \u{200b}", " ".repeat(200));
    model.reply(Reply::calls("t1", "Bash", &bash(&format!("{hidden}\nrm b"))));
    let mut chat = chat(&daemon);
    chat.expect("1 │ touch a⟨200 blanks⟩<U+202E>b→   true <U+200B>");
    chat.expect("2 │ rm b");
    chat.expect("[y] yes");
    chat.send("n");
    chat.expect("› no");
    leave(chat);
}

#[test]
fn yes_always_says_which_rule_and_for_how_long() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    for call in ["t1", "t2"] {
        model.reply(Reply::calls(call, "Bash", &bash("touch a")));
    }
    model.reply(Reply::says("Both are done."));
    let mut chat = chat(&daemon);
    chat.expect("[a] yes, always");
    chat.send("a");
    chat.expect("allow this command  Bash(touch a)");
    chat.expect("[s] this session");
    let keys = chat.expect("[Esc] back");
    assert!(!keys.contains("[l]") && !keys.contains("[p]"), "a folder that is not trusted remembers nothing: {keys}");
    chat.send("s");
    chat.expect("remembered for this session: Bash(touch a)");
    let rest = chat.expect("Both are done.");
    assert!(!rest.contains("[y]"), "it was not asked again: {rest}");
    leave(chat);
}

#[test]
fn what_is_edited_is_what_runs() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &bash("touch a"))).reply(Reply::says("Done."));
    let mut chat = chat_with_editor(&daemon, "sed -i s/a$/b/");
    chat.expect("[i] edit it");
    chat.send("i");
    chat.expect("this would run instead:");
    chat.expect("-touch a");
    chat.expect("+touch b");
    chat.expect("[y] as edited");
    chat.send("y");
    chat.expect("› yes, as edited");
    chat.expect("Done.");
    assert!(daemon.workspace().join("b").exists() && !daemon.workspace().join("a").exists());
    leave(chat);
}

#[test]
fn an_answer_that_is_refused_keeps_what_was_edited() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let write = json!({"file_path": daemon.workspace().join("a"), "content": "new\n"});
    model.reply(Reply::calls("t1", "Write", &write)).reply(Reply::says("Done."));
    // It takes back what it did when it is called again.
    let mut chat = chat_with_editor(&daemon, "sed -i -e s/contents/content/ -e t -e s/content/contents/");
    chat.expect("[i] edit it");
    chat.send("i");
    chat.expect("[y] as edited");
    let keys = chat.expect("[i] edit it");
    assert!(!keys.contains("[a]"), "no offered rule fits what was edited: {keys}");
    chat.send("y");
    chat.expect("updatedInput: ");
    chat.expect("still open");
    chat.expect("this would run instead:");
    chat.expect("[y] as edited");
    assert!(!daemon.workspace().join("a").exists());
    chat.send("i");
    chat.expect("nothing is changed");
    chat.expect("[y] yes");
    chat.send("y");
    chat.expect("Done.");
    assert!(daemon.workspace().join("a").exists());
    leave(chat);
}

#[test]
fn without_an_editor_the_line_is_edited() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &bash("touch a"))).reply(Reply::says("Done."));
    let mut chat = chat(&daemon);
    chat.expect("[i] edit it");
    chat.send("i");
    chat.expect("[Enter] done");
    chat.send("\u{7f}c\r");
    chat.expect("+touch c");
    chat.send("y");
    chat.expect("Done.");
    assert!(daemon.workspace().join("c").exists());
    leave(chat);
}

#[test]
fn a_reason_reaches_the_model() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &bash("npm test"))).reply(Reply::says("With bun, then."));
    let mut chat = chat(&daemon);
    chat.expect("[e] no, and say why");
    chat.send("e");
    chat.expect("what should it do instead?");
    chat.send("use bun\r");
    chat.expect("› no: use bun");
    chat.expect("With bun, then.");
    assert!(model.wait_for_request(2).tool_results()[0].1.contains("use bun"));
    leave(chat);
}

#[test]
fn of_two_people_the_first_answers_and_the_other_hears_of_it() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &bash("touch a"))).reply(Reply::says("Done."));
    let mut one = chat(&daemon);
    one.expect("[y] yes");
    let mut two = Pty::start(daemon.home(), &binary("agentctl"), &["chat", "--session", "@last"]);
    two.expect("[y] yes");
    two.send("y");
    two.expect("› yes");
    one.expect("allowed by agentctl");
    one.expect("Done.");
    two.expect("Done.");
    leave(one);
    leave(two);
}

#[test]
fn a_prompt_that_is_typed_while_a_turn_runs_waits_for_its_end() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("The first ").gate("g").text("answer."));
    model.reply(Reply::says("The second answer."));
    let mut chat = chat(&daemon);
    chat.expect("The first");
    chat.send("and then?\r");
    chat.expect("› queued: and then?");
    model.open("g");
    chat.expect("answer.");
    chat.expect("› and then?");
    chat.expect("The second answer.");
    assert!(model.wait_for_request(2).last_user_text().ends_with("and then?"));
    leave(chat);
}

#[test]
fn a_key_of_a_prompt_is_no_answer_to_a_question_that_comes_meanwhile() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("I ").gate("g").tool("t1", "Bash", &bash("touch a")));
    model.reply(Reply::says("Done.")).reply(Reply::says("Yes."));
    let mut chat = chat(&daemon);
    chat.expect("I ");
    chat.send("is it ready");
    chat.expect("is it ready");
    model.open("g");
    chat.expect("on to the question");
    chat.send(" yet\r");
    chat.expect("› queued: is it ready yet");
    let client = Client::connect(&daemon);
    assert_eq!(client.call_ok("permission/list", &json!({}))["requests"].as_array().unwrap().len(), 1);
    assert!(!daemon.workspace().join("a").exists());
    chat.expect("[y] yes");
    chat.send("y");
    chat.expect("Done.");
    chat.expect("Yes.");
    assert!(daemon.workspace().join("a").exists());
    leave(chat);
}

#[test]
fn what_was_typed_and_not_sent_stands_in_the_next_line() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("The first ").gate("g").text("answer."));
    model.reply(Reply::says("The second answer."));
    let mut chat = chat(&daemon);
    chat.expect("The first");
    chat.send("and ");
    chat.expect("› and");
    model.open("g");
    chat.expect("answer.");
    chat.expect("› and");
    chat.send("then?\r");
    chat.expect("The second answer.");
    assert!(model.wait_for_request(2).last_user_text().ends_with("and then?"));
    leave(chat);
}

#[test]
fn a_question_is_explained_layer_by_layer() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &bash("touch a")));
    let mut chat = chat(&daemon);
    chat.expect("[x] explain");
    chat.send("x");
    chat.expect("ask  a person would be asked");
    chat.expect(" 1  pass ");
    chat.expect(" 9  ask ");
    chat.expect("[y] yes");
    chat.send("n");
    chat.expect("› no");
    leave(chat);
}

#[test]
fn a_rule_for_the_folder_needs_its_trust_and_its_file_is_named() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let (path, command) = (daemon.workspace(), bash("touch a"));
    Client::connect(&daemon).call_ok("trust/set", &json!({"path": path, "trusted": true}));
    model.reply(Reply::calls("t1", "Bash", &command)).reply(Reply::says("Done."));
    let mut chat = chat(&daemon);
    chat.expect("[a] yes, always");
    chat.send("a");
    chat.expect("[l] you, in this folder");
    chat.expect("[p] all, in this folder");
    chat.send("l");
    chat.expect("· remembered in ");
    chat.expect("settings.local.json: Bash(touch a");
    chat.expect("Done.");
    let written = [".agentd", ".claude"].map(|folder| path.join(folder).join("settings.local.json"));
    let written = written.iter().find_map(|file| std::fs::read_to_string(file).ok()).expect("the file");
    assert!(written.contains("\"Bash(touch a"), "{written}");
    leave(chat);
}

#[test]
fn what_an_untrusted_folder_would_want_is_told_once_and_trusted_from_chat() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let folder = daemon.workspace().join(".claude");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), r#"{"permissions": {"allow": ["Bash(touch *)"]}}"#).unwrap();
    let mut chat = Pty::start(daemon.home(), &binary("agentctl"), &["chat"]);
    chat.expect("this folder is not trusted: of .claude/settings.json");
    chat.expect("› ");
    chat.send("/explain touch a\r");
    chat.expect("a person would be asked");
    chat.expect("› ");
    chat.send("/trust\r");
    chat.expect("is trusted: .claude/settings.json");
    chat.expect("› ");
    chat.send("/explain touch a\r");
    chat.expect("it would run unasked");
    chat.expect("rule Bash(touch *)");
    chat.expect("› ");
    chat.send("/permissions\r");
    chat.expect("run unasked");
    chat.expect("Bash(touch *)");
    leave(chat);
}

#[test]
fn a_plan_is_read_revised_and_approved() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    for (call, plan) in [("p1", "# Move it\n- touch **a**\n- rm b"), ("p2", "# Move it\n- touch **a** only")] {
        model.reply(Reply::calls(call, "ExitPlanMode", &json!({"plan": plan})));
    }
    model.reply(Reply::calls("t1", "Bash", &bash("touch a"))).reply(Reply::says("Done."));
    let mut chat = Pty::start(daemon.home(), &binary("agentctl"), &["chat", "--mode", "plan", "go"]);
    chat.expect("? A plan to approve");
    chat.expect("  Move it");
    chat.expect("• rm b");
    chat.expect("[e] no, and say why");
    chat.send("e");
    chat.expect("what should it do instead?");
    chat.send("leave b\r");
    chat.expect("• touch a only");
    chat.expect("[y] yes");
    chat.send("y");
    chat.expect("? Bash");
    chat.expect("[y] yes");
    chat.send("y");
    chat.expect("Done.");
    assert!(model.wait_for_request(2).tool_results()[0].1.contains("leave b"));
    assert!(daemon.workspace().join("a").exists());
    leave(chat);
}
