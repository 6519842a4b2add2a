//! Agents for hire from the command line: who offers a skill, who hires, and what moves.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Going, Ran, chorus, words};
use crate::host::Host;

/// A host whose operator has ten credits.
fn market() -> Host {
    let host = Host::start();
    host.json(&["account", "mint", "operator", "10", "--memo", "to begin with"]);
    host
}

/// `chorus skill offer` with a command, once it works.
fn offer(host: &Host, folder: &Path, arguments: &[&str]) -> Going {
    let mut command = chorus();
    command.args(["skill", "offer", "--json", "--data"]).arg(host.data());
    command.args(words(arguments)).current_dir(folder);
    let going = Going::start(&mut command);
    let said = going.wait(|line| serde_json::from_str::<Value>(line).ok());
    assert!(said["agent_id"].is_string(), "{said}");
    going
}

/// A script in a folder of its own.
fn script(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("work.sh"), text).unwrap();
    folder
}

const TRANSLATE: &str = "\
read input
case $input in
  *hello*) echo '{\"text\": \"hallo\"}' ;;
  *list*) echo '[1]' ;;
  *) echo \"no word for $input\" >&2; exit 3 ;;
esac
";

const TRANSLATOR: [&str; 7] =
    ["translate_text", "--cost", "0.05", "--agent", "translator", "--runtime", "cmd:sh ./work.sh"];

fn refused(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{word:?} in {:?}", ran.err);
    }
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

// covers: REG-90, REG-91
#[test]
fn an_agent_is_hired_and_its_result_printed_with_what_it_cost_and_the_receipt() {
    let host = market();
    let folder = script(TRANSLATE);
    fs::write(
        folder.path().join("in.json"),
        r#"{"properties": {"text": {"type": "string"}}, "required": ["text"]}"#,
    )
    .unwrap();
    fs::write(folder.path().join("out.json"), r#"{"text": "string"}"#).unwrap();
    let schemas = ["--input-schema", "in.json", "--output-schema", "out.json"];
    let working = offer(&host, folder.path(), &[&TRANSLATOR[..], &schemas].concat());

    let hire = ["hire", "@translator", "--job", "translate_text", "--budget", "0.50"];
    let hired = host.run(&[&hire[..], &["--input", r#"{"text":"hello","to":"de"}"#]].concat()).ok();
    let lines: Vec<_> = hired.out.lines().collect();
    assert_eq!(lines[..2], [r#"{"text":"hallo"}"#, "cost 0.05 of 0.50, paid to translator"]);
    let receipt = lines[2].strip_prefix("receipt ").unwrap();
    assert_eq!((receipt.split('.').count(), lines.len()), (3, 3), "{receipt}");
    working.wait(|line| line.contains("SUCCESS").then_some(()));

    // The price is the budget where none is given, and input comes from anywhere.
    let input = folder.path().join("input.json");
    fs::write(&input, r#"{"text": "hello"}"#).unwrap();
    let from_file = format!("@{}", input.display());
    let hire = ["hire", "translator", "--job", "translate_text"];
    let job = host.json(&[&hire[..], &["--input", &from_file]].concat());
    assert_eq!(
        (&job["state"], &job["budget"], &job["paid"], &job["output_data"]),
        (&json!("Completed"), &json!(0.05), &json!(0.05), &json!({"text": "hallo"}))
    );
    assert!(job["receipt"].as_str().unwrap().contains('.') && job["execution_time_ms"].is_u64());
    let mut piped = chorus();
    piped.args(hire).args(["--input", "-", "--data"]).arg(host.data());
    let mut piped = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"{\"text\": \"hello\"}").unwrap();
    let out = piped.wait_with_output().unwrap();
    assert!(out.status.success() && out.stdout.starts_with(b"{\"text\":\"hallo\"}"), "{out:?}");

    // The same id is the same job, which costs once.
    let id = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";
    let again = [&hire[..], &["--input", r#"{"text":"hello"}"#, "--id", id]].concat();
    assert_eq!(host.json(&again)["duplicate"], Value::Null);
    host.run(&again).ok();
    assert_eq!(host.json(&["account"])["balance"], 9.8);
    assert_eq!(host.run(&["account", "translator"]).ok().out, "translator has 0.20 credits\n");

    // A failure is a sentence, and costs nothing.
    let fails = host.run(&[&hire[..], &["--input", r#"{"text":"moin"}"#]].concat());
    refused(&fails, 1, &["the agent failed", "exit status: 3", "no word for", "nothing was paid"]);
    let list = host.run(&[&hire[..], &["--input", r#"{"text":"list"}"#, "--json"]].concat());
    assert_eq!((list.code, &list.json()["error"]["code"]), (1, &json!("EXECUTION_ERROR")));
    assert!(list.out.contains("output_data"), "{}", list.out);
    assert_eq!(host.json(&["account"])["balance"], 9.8);
    let wrong = host.run(&[&hire[..], &["--input", r#"{"text": 5}"#]].concat());
    refused(&wrong, 1, &["input_data"]);
    drop(working);
}

// covers: REG-90
#[test]
fn what_cannot_be_hired_is_said_in_a_sentence() {
    let host = market();
    host.json(&["skill", "offer", "count", "--cost", "2", "--agent", "counter"]);
    let hire = |more: &[&str]| host.run(&[&["hire", "@counter", "--job", "count"], more].concat());
    refused(&hire(&["--budget", "1"]), 1, &["count costs 2.00, and budget is 1.00"]);
    refused(&hire(&["--budget", "11"]), 1, &["operator"]);
    assert_eq!(hire(&["--budget", "0.005"]).code, 2);
    refused(&hire(&["--input", "five"]), 2, &["--input is no JSON", "@FILE"]);
    refused(&hire(&["--input", "[]"]), 1, &["input_data is a JSON object"]);
    refused(&hire(&["--id", "five"]), 1, &["job_id"]);
    refused(&hire(&["--evaluator", "nobody"]), 1, &["no member is called"]);
    refused(&hire(&["--timeout", "1s"]), 1, &["never reached the agent", "nothing was paid"]);
    let other = host.run(&["hire", "@counter", "--job", "dance"]);
    refused(&other, 1, &["counter has no skill dance; it has count"]);
    let budget = host.run(&["hire", "@counter", "--job", "dance", "--budget", "1", "--verbose"]);
    refused(&budget, 1, &["SKILL_MISMATCH", "it has count"]);
    refused(&host.run(&["hire", "@nobody", "--job", "count"]), 1, &["no agent"]);
    let none = host.run(&["skill", "offer", "count", "--cost", "1"]);
    refused(&none, 2, &["operator is a person", "--agent"]);
    let person = host.run(&["skill", "offer", "count", "--cost", "1", "--agent", "operator"]);
    refused(&person, 1, &["is a person"]);
    let nobody = host.run(&["skill", "remove", "count", "--agent", "nobody"]);
    refused(&nobody, 1, &["no member is called"]);
    let elsewhere = ["--runtime", "cmd:cat", "--agent", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"];
    let elsewhere = host.run(&[&["skill", "offer", "x", "--cost", "1"], &elsewhere[..]].concat());
    refused(&elsewhere, 2, &["--endpoint"]);
}

// covers: REG-90
#[test]
fn a_command_decides_about_the_result_for_who_asked_for_it() {
    let host = market();
    let folder = script("cat\n");
    let echo = ["echo", "--cost", "1", "--agent", "echoer", "--runtime", "cmd:sh ./work.sh"];
    let _working = offer(&host, folder.path(), &echo);
    let hire = |good: bool, more: &[&str]| {
        let input = json!({ "good": good }).to_string();
        let all = ["hire", "@echoer", "--job", "echo", "--input", &input];
        host.run(&[&all[..], more].concat())
    };
    let check = ["--evaluate", "cmd:grep true"];
    let accepted = hire(true, &check).ok();
    assert!(accepted.out.starts_with("{\"good\":true}\ncost 1.00 of 1.00"), "{}", accepted.out);
    assert!(accepted.err.contains("true"), "what the command prints: {}", accepted.err);
    refused(&hire(false, &check), 1, &["the result was refused; nothing was paid"]);
    let missing = hire(true, &["--evaluate", "cmd:./nowhere.sh 2>/dev/null"]);
    refused(&missing, 1, &["could not check the result", "chorus job accept"]);
    assert_eq!(hire(true, &["--evaluate", "./check.sh"]).code, 2);

    // A direct job is paid when the command accepts, or by hand.
    let paid = hire(true, &["--direct", "--evaluate", "cmd:grep -q true"]).ok();
    assert!(paid.out.contains("cost 1.00 of 1.00") && paid.out.contains("receipt"), "{}", paid.out);
    let open = hire(true, &["--direct"]).ok();
    let pay = open.out.split("chorus ").last().unwrap().trim().to_owned();
    assert!(pay.starts_with("transfer echoer 1.00 --job "), "{}", open.out);
    let pay: Vec<_> = pay.split(' ').collect();
    let paid = host.run(&pay).ok();
    assert!(paid.out.starts_with("1.00 from operator to echoer; operator has "), "{}", paid.out);
    assert_eq!(host.json(&["job", "show", pay[4]])["outcome"], "paid");
    assert_eq!(host.json(&["account", "echoer"])["balance"], 3);
}

// covers: REG-62, REG-90
#[test]
fn a_pipeline_is_run_and_prints_what_its_steps_made() {
    let host = market();
    let folder = script(TRANSLATE);
    let shout = "sed 's/.*words\":\"\\(.*\\)\".*/{\"shouted\": \"\\1!\"}/'\n";
    fs::write(folder.path().join("shout.sh"), shout).unwrap();
    let _translates = offer(&host, folder.path(), &TRANSLATOR);
    let shouter =
        ["shout", "--cost", "0.10", "--agent", "shouter", "--runtime", "cmd:sh ./shout.sh"];
    let _shouts = offer(&host, folder.path(), &shouter);
    let pipeline = |text: &str, last: &str| {
        let steps = json!([
            {"agent_id": "@translator", "skill_name": "translate_text", "fraction": 0.5},
            {"agent_id": "@shouter", "skill_name": last, "fraction": 0.5,
             "input_data": {"words": "$text"}},
        ]);
        json!({"context": {"text": text}, "budget": 0.4, "steps": steps}).to_string()
    };
    let file = folder.path().join("pipeline.json");
    fs::write(&file, pipeline("hello", "shout")).unwrap();
    let ran = host.run(&["pipeline", "run", &format!("@{}", file.display())]).ok();
    assert_eq!(ran.out, "{\"shouted\":\"hallo!\",\"text\":\"hallo\"}\ncost 0.15 in 2 steps\n");
    let json = host.json(&["pipeline", "run", &pipeline("hello", "shout")]);
    let id = json["pipeline_id"].as_str().unwrap();
    let shown = host.run(&["pipeline", "show", id]).ok().out;
    assert!(shown.starts_with(&format!("{id} done, paid 0.15\n")), "{shown}");
    assert_eq!(shown.matches("Completed").count(), 2, "{shown}");

    let fails = host.run(&["pipeline", "run", &pipeline("moin", "shout")]);
    refused(&fails, 1, &["step 1 of 2", "0.00 was paid", "chorus pipeline show"]);
    refused(&host.run(&["pipeline", "run", "{}"]), 2, &["no pipeline", "docs/hire.md"]);
    refused(&host.run(&["pipeline", "run", "@/nowhere.json"]), 2, &["nowhere.json"]);
    let unknown = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";
    refused(&host.run(&["pipeline", "show", unknown]), 1, &["pipeline"]);
}

// covers: REG-91
#[test]
fn a_command_says_how_far_it_is_and_ctrl_c_ends_the_work() {
    let host = market();
    let folder = script("echo 'progress: half way' >&2; sleep 1; echo '{}'\n");
    let slow = ["slow", "--cost", "1", "--agent", "snail", "--runtime", "cmd:sh ./work.sh"];
    let mut working = offer(&host, folder.path(), &slow);
    let job = host.json(&["hire", "@snail", "--job", "slow"]);
    assert_eq!((&job["progress"], &job["paid"]), (&json!("half way"), &json!(1)));
    let second = host.json(&["hire", "@snail", "--job", "slow", "--no-wait"]);
    let again = ["hire", "@snail", "--job", "slow", "--id", second["job_id"].as_str().unwrap()];
    assert_eq!(host.json(&again)["paid"], 1, "waited for by its id");
    nix::sys::signal::kill(working.pid(), nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(working.child.wait().unwrap().code(), Some(0));
    let left = host.json(&["hire", "@snail", "--job", "slow", "--no-wait"]);
    // Whoever works next does what was left.
    let _working = offer(&host, folder.path(), &slow);
    let left = ["hire", "@snail", "--job", "slow", "--id", left["job_id"].as_str().unwrap()];
    assert_eq!(host.json(&left)["state"], "Completed");
}

/// A token of a member.
fn token(host: &Host, member: &str) -> String {
    let issued = host.run(&["token", "issue", "--agent", member, "--role", "worker"]).ok();
    issued.out.trim().to_owned()
}

// covers: REG-92
#[test]
fn a_job_is_delivered_decided_about_contested_and_taken_back_by_hand() {
    let host = market();
    host.json(&["member", "create", "bob", "--kind", "human"]);
    host.json(&["skill", "offer", "count", "--cost", "2", "--agent", "counter"]);
    let (worker, bob) = (token(&host, "counter"), token(&host, "bob"));
    let asked = |more: &[&str]| {
        let all = ["hire", "@counter", "--job", "count", "--no-wait"];
        let job = host.json(&[&all[..], more].concat());
        assert_eq!((&job["state"], &job["held"]), (&json!("Funded"), &json!(2)));
        job["job_id"].as_str().unwrap().to_owned()
    };
    let by = |token: &str, arguments: &[&str]| {
        host.json(&[&["job"], arguments, &["--token", token]].concat())
    };

    let job = asked(&[]);
    let waiting = host.run(&["job", "list", "--mine"]).ok().out;
    assert!(waiting.contains(&job) && waiting.contains("count for operator by counter"));
    assert_eq!(by(&worker, &["list", "--worker"])["jobs"][0]["job_id"], json!(job));
    assert_eq!(host.json(&["job", "list", "--all"])["jobs"][0]["job_id"], json!(job));
    assert_eq!(by(&worker, &["deliver", &job, "--progress", "half"])["status"], "PENDING");
    assert!(host.run(&["job", "show", &job]).ok().out.contains(": half"));
    let output = ["deliver", &job, "--output", r#"{"n": 3}"#];
    assert_eq!(by(&worker, &output)["paid"], 2);
    assert_eq!(by(&worker, &output)["duplicate"], true);
    let shown = host.run(&["job", "show", &job]).ok().out;
    for line in ["Completed (paid)", "out  {\"n\":3}", "paid 2.00 (escrow)"] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let receipts = host.json(&["job", "receipts", &job]);
    for name in ["offer", "result", "payment"] {
        assert_eq!(receipts[name].as_str().unwrap().split('.').count(), 3, "{name}");
    }
    let text = host.run(&["job", "receipts", &job]).ok().out;
    assert!(text.lines().count() == 3 && text.contains("payment  ey"), "{text}");

    host.json(&["job", "dispute", &job, "--reason", "there are four"]);
    assert_eq!(host.run(&["job", "decide", &job, "--note", "so it is"]).code, 2);
    let decided = host.json(&["job", "decide", &job, "--refund", "--note", "so it is"]);
    assert_eq!(decided["dispute"]["refunded"], 2);
    assert!(host.run(&["job", "show", &job]).ok().out.contains("decided for the hirer"));
    let other = asked(&[]);
    by(&worker, &["deliver", &other, "--output", "{}"]);
    assert!(host.run(&["job", "dispute", &other, "--reason", "no"]).ok().out.contains("operator"));
    let upheld = host.json(&["job", "decide", &other, "--uphold", "--note", "yes"]);
    assert_eq!(upheld["dispute"]["decided_for"], "agent");

    let judged = |verdict: &str| {
        let job = asked(&["--evaluator", "@bob"]);
        by(&worker, &["deliver", &job, "--output", "{}"]);
        by(&bob, &[verdict, &job])["outcome"].clone()
    };
    assert_eq!((judged("accept"), judged("reject")), (json!("paid"), json!("refused")));
    let failed = asked(&[]);
    assert_eq!(by(&worker, &["deliver", &failed, "--fail", "too many"])["status"], "FAILURE");
    let back = asked(&[]);
    assert_eq!(host.json(&["job", "cancel", &back])["outcome"], "cancelled");
    let late = host.run(&["job", "deliver", &back, "--output", "{}", "--token", &worker]);
    refused(&late, 1, &["cancelled"]);
    assert_eq!(host.run(&["job", "deliver", &back, "--token", &worker]).code, 2);
    refused(
        &host.run(&["job", "show", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"]),
        1,
        &["no such job"],
    );
}

// covers: REG-92
#[test]
fn credits_are_minted_given_away_limited_and_listed() {
    let host = market();
    host.json(&["skill", "offer", "count", "--cost", "2", "--agent", "counter"]);
    let mint = ["account", "mint", "@counter", "5", "--id", "a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f"];
    assert_eq!(host.json(&mint)["balance"], 5);
    assert_eq!(host.json(&mint)["balance"], 5);
    let accounts = host.run(&["account", "list"]).ok().out;
    assert!(accounts.contains("counter") && accounts.contains("10.00"), "{accounts}");
    let id = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";
    let give = ["transfer", "counter", "2.50", "--memo", "thanks", "--id", id];
    let given = host.json(&give);
    assert_eq!((&given["balance"], &given["duplicate"]), (&json!(7.5), &json!(false)));
    let again = host.run(&give).ok().out;
    assert!(again.contains("made before") && again.contains("receipt ey"), "{again}");
    let statement = host.run(&["account", "statement"]).ok().out;
    assert!(statement.contains("-2.50") && statement.contains("counter: thanks"), "{statement}");
    assert!(host.run(&["account", "statement", "counter"]).ok().out.contains("+2.50"));
    let page = host.run(&["account", "statement", "--limit", "1"]).ok().out;
    let next = page.split("--after ").last().unwrap().trim();
    let rest = host.json(&["account", "statement", "--after", next]);
    assert_eq!(rest["entries"][0]["kind"], "mint");

    refused(&host.run(&["transfer", "counter", "100"]), 1, &["operator"]);
    refused(&host.run(&["transfer", "nobody", "1"]), 1, &["no account of nobody"]);
    refused(&host.run(&["transfer", "operator", "1"]), 1, &["are the same"]);
    assert_eq!(host.run(&["transfer", "counter", "0.001"]).code, 2);
    refused(&host.run(&["account", "nobody"]), 1, &["no such account"]);
    let scout = token(&host, "scout");
    let poor = host.run(&["transfer", "counter", "1", "--token", &scout]);
    refused(&poor, 1, &["you have no account yet"]);
    let mint = host.run(&["account", "mint", "scout", "1", "--token", &scout]);
    refused(&mint, 1, &["operator"]);

    let none = host.run(&["account", "limit", "@scout"]).ok().out;
    assert_eq!(none, "scout may spend any amount a job, any amount a day\n");
    host.json(&["account", "limit", "scout", "--per-job", "1"]);
    let both = host.json(&["account", "limit", "scout", "--per-day", "3"]);
    assert_eq!(both, json!({ "per_job": 1, "per_day": 3 }));
    let seen = host.run(&["account", "limit", "scout", "--token", &scout]).ok().out;
    assert_eq!(seen, "scout may spend 1.00 a job, 3.00 a day\n");
    assert_eq!(host.json(&["account", "limit", "scout", "--none"]), json!({}));
    let ledger = host.run(&["registry", "ledger"]).ok().out;
    assert!(ledger.contains("3 entries, 15.00 credits minted"), "{ledger}");
    assert_eq!(host.json(&["registry", "ledger", "--limit", "1"])["entries"][0]["entry"], 1);
}

// covers: REG-91, REG-92
#[test]
fn skills_are_offered_beside_others_found_and_taken_back() {
    let host = market();
    let offer = |skill: &str, more: &[&str]| {
        let all = ["skill", "offer", skill, "--agent", "counter"];
        host.json(&[&all[..], more].concat())
    };
    let about = ["--description", "counts things", "--name", "Counter"];
    let first = offer("count", &[&["--cost", "2"], &about[..]].concat());
    offer("sort", &["--cost", "0.5"]);
    assert_eq!(offer("count", &["--cost", "3"])["agent_id"], first["agent_id"]);
    let shown = host.json(&["registry", "show", "@counter"]);
    let skills = shown["skills"].as_array().unwrap();
    let of = |name: &str| skills.iter().find(|skill| skill["skill_name"] == name).unwrap();
    assert_eq!((skills.len(), &of("count")["cost_per_call"]), (2, &json!(3)));
    assert_eq!(
        (&of("count")["description"], &shown["agent_name"]),
        (&json!("counts things"), &json!("Counter"))
    );
    let worker = token(&host, "counter");
    let own = host.run(&["skill", "list", "--token", &worker]).ok().out;
    assert!(own.contains("@counter  3.00  count  counts things"), "{own}");
    assert!(host.run(&["skill", "list", "--agent", "counter"]).ok().out.contains("sort"));
    assert_eq!(host.run(&["skill", "list"]).ok().out.lines().count(), 1, "an operator offers none");

    // An agent that is a server, of a person.
    let url = ["--endpoint", "https://agents.example/jobs"];
    let server = [&["skill", "offer", "sort", "--cost", "1"], &url[..]].concat();
    let server = host.json(&server);
    let uuid = server["agent_id"].as_str().unwrap();
    host.json(&["skill", "offer", "add", "--cost", "1", "--agent", uuid]);
    let mine = host.json(&["registry", "list", "--owner", "operator"]);
    assert_eq!(mine["agents"][0]["skills"].as_array().unwrap().len(), 2, "{mine}");
    assert_eq!(mine["agents"][0]["api_endpoint"], url[1]);

    let found = |more: &[&str]| {
        let found = host.json(&[&["registry", "find"], more].concat());
        found["agents"].as_array().unwrap().len()
    };
    assert_eq!((found(&[]), found(&["--skill", "sort"]), found(&["counts", "things"])), (4, 2, 1));
    assert_eq!((found(&["--max-cost", "0.5"]), found(&["--min-reputation", "60"])), (1, 0));
    assert_eq!((found(&["--online", "--skill", "sort"]), found(&["--verified"])), (2, 0));
    assert_eq!(host.run(&["registry", "find", "--max-cost", "x"]).code, 2);
    let text = host.run(&["registry", "find", "--skill", "count"]).ok().out;
    assert!(text.contains("@counter") && text.contains("count: counts things"), "{text}");
    let skills = host.run(&["registry", "skills"]).ok().out;
    assert!(skills.contains("sort   2       0.50"), "{skills}");
    let list = host.run(&["registry", "list"]).ok().out;
    assert!(list.contains("Counter of counter") && list.contains("count 3.00"), "{list}");
    let one = host.run(&["registry", "show", "@counter"]).ok().out;
    assert!(one.contains("reputation 50.0") && one.contains("online"), "{one}");
    let history = host.run(&["registry", "reputation", "counter"]).ok().out;
    assert_eq!(history, "reputation 50.00\nno job has changed it yet\n");

    let remove = |name: &str| host.run(&["skill", "remove", name, "--agent", "counter"]);
    refused(&remove("dance"), 1, &["offers no dance", "count", "sort"]);
    assert_eq!(remove("sort").ok().out, "removed sort\n");
    assert!(remove("count").ok().out.contains("left the registry"));
    refused(&remove("count"), 1, &["offers nothing"]);
    assert_eq!(offer("count", &["--cost", "1"])["agent_id"], first["agent_id"], "it stays itself");
    host.json(&["registry", "remove", "counter"]);
    refused(&host.run(&["hire", "@counter", "--job", "count"]), 1, &[]);
    host.json(&["registry", "remove", uuid]);
    assert_eq!(found(&[]), 0);
}
