//! Small gates: what is kept of refusals, what a start that is refused leaves, who is shown what, and who is answered.

use chorus_server::Host;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

// covers: OPS-422, OPS-423, OPS-424
#[tokio::test]
async fn refusals_and_issued_tokens_are_audited() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, bot) = (host.operator(), host.token("bot").await);
    for (path, body, kind) in [
        ("/v1/members", json!({"id": "x", "kind": "agent"}), "member_added"),
        ("/v1/tokens", json!({"agent": "ann", "role": "worker"}), "token_issued"),
        ("/v1/roles", json!({"name": "crew"}), "role_added"),
        ("/v1/streams", json!({"name": "work"}), "stream_added"),
        ("/v1/endpoints", json!({"member": "x", "url": "https://a.example/"}), "endpoint_changed"),
        ("/v1/tokens/rotate", json!({}), "signing_key_rotated"),
    ] {
        let code = host.post(&bot, path, body).await.refused(403);
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{path}");
        // It is written with what is written next, or a second later.
        let by = eventually(&format!("the refusal of {kind} is in the audit log"), async || {
            host.pass(1_500).await;
            let found = host.get(&op, &format!("/v1/audit?kind={kind}")).await.ok();
            let mut entries = found["entries"].as_array().unwrap().iter();
            let refused = entries.find(|e| e["refused"] == "INSUFFICIENT_AUTHORITY");
            refused.map(|refused| refused["by"].clone()).ok_or(found)
        })
        .await;
        assert_eq!(by, "bot", "{kind}");
    }
    let made = json!({"id": "aide", "kind": "agent", "token_role": "worker"});
    host.post(&op, "/v1/members", made).await.ok();
    let issued = host.get(&op, "/v1/audit?kind=token_issued&member=aide").await.ok();
    assert_eq!(
        (&issued["entries"][0]["by"], issued["entries"].as_array().unwrap().len()),
        (&json!("operator"), 1)
    );

    let link = host.running.operator_link.clone();
    let path = link.strip_prefix(&host.running.url).unwrap().to_owned();
    TestHost::answer(host.request(Method::POST, &path)).await.ok();
    let signed_in = host.get(&op, "/v1/audit?kind=signed_in").await.ok();
    assert_eq!(signed_in["entries"][0]["member"], "operator");
}

// covers: OPS-418
#[tokio::test]
async fn a_program_that_looks_at_the_link_does_not_use_it_up() {
    let host = TestHost::open().await;
    let link = host.running.operator_link.clone();
    let path = link.strip_prefix(&host.running.url).unwrap().to_owned();
    for _ in 0..2 {
        let looked = host.request(Method::HEAD, &path).send().await.unwrap();
        assert_eq!(looked.status().as_u16(), 200);
    }
    TestHost::answer(host.request(Method::POST, &path)).await.ok();
}

// covers: OPS-413
#[tokio::test]
async fn a_start_that_is_refused_leaves_nothing() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = || chorus_server::Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..chorus_server::Config::on(&data)
    };
    let port = chorus_server::Config { listen: taken.local_addr().unwrap(), ..config() };
    let why = Host::start(port).await.err().unwrap().to_string();
    assert!(why.contains("cannot listen"), "{why}");
    assert!(!data.exists());
    // Keys that cannot be read, keys that cannot be made, and a certificate that is not there.
    std::fs::create_dir(folder.path().join("bad")).unwrap();
    std::fs::write(folder.path().join("bad/signing.pem"), "no key").unwrap();
    let bad = chorus_server::Config { keys: Some(folder.path().join("bad")), ..config() };
    Host::start(bad).await.err().unwrap();
    assert!(!data.exists());
    std::fs::write(folder.path().join("file"), "").unwrap();
    let unmade = chorus_server::Config { keys: Some(folder.path().join("file/keys")), ..config() };
    Host::start(unmade).await.err().unwrap();
    assert!(!data.exists());
    let mut tls = config();
    tls.settings.tls.cert = Some(folder.path().join("cert.pem"));
    tls.settings.tls.key = Some(folder.path().join("key.pem"));
    Host::start(tls).await.err().unwrap();
    assert!(!data.exists());

    // Another host's database, whose keys are others.
    let url = chorus_cluster::schema().unwrap();
    let set = |config: &mut chorus_server::Config| config.database = Some(url.clone());
    let one = TestHost::open_with(tempfile::tempdir().unwrap(), START, set).await;
    let other = chorus_server::Config { database: Some(url.clone()), ..config() };
    let why = Host::start(other).await.err().unwrap().to_string();
    assert!(why.contains("sign with other keys"), "{why}");
    assert!(!data.exists());
    one.running.stop().await;
}

// covers: OPS-415
#[tokio::test]
async fn audit_hides_direct_messages_from_an_operator() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let auditor = host.token_of("watcher", "auditor").await;
    let mut harness = host.connect(&bot).await;
    let dm = json!({"kind": "dm", "members": ["bot"]});
    let dm = host.post(&ann, "/v1/channels", dm).await.ok()["id"].as_str().unwrap().to_owned();
    let asked = host.say(&ann, &dm, "between us?").await;
    let offer = harness.take().await;
    let opening = json!({"conversation": dm, "root": asked["event_id"], "title": "ours"});
    let thread = host.post(&ann, "/v1/threads", opening).await.ok()["id"].clone();
    // Refusals are kept in the audit log itself.
    let path = format!("/v1/threads/{}", thread.as_str().unwrap());
    host.send(&bot, Method::PATCH, &path, Some(json!({"status": "closed"}))).await;
    host.send(&bot, Method::PATCH, &format!("/v1/channels/{dm}"), Some(json!({"title": "x"})))
        .await;
    harness.reply(&offer, "yes").await.unwrap();
    host.pass(2_000).await;
    let about = |audit: &Value| {
        let entries = audit["entries"].as_array().unwrap();
        let ids = [json!(dm), asked["event_id"].clone(), thread.clone()];
        let of = |e: &&Value| ids.contains(&e["conversation"]) || ids.contains(&e["subject"]);
        entries.iter().filter(of).count()
    };
    assert_eq!(about(&host.get(&op, "/v1/audit?limit=1000").await.ok()), 0);
    assert!(about(&host.get(&auditor, "/v1/audit?limit=1000").await.ok()) > 3);
}

// covers: OPS-416
#[tokio::test]
async fn an_auditor_types_nowhere() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, auditor) = (host.token("ann").await, host.token_of("watcher", "auditor").await);
    let mut tail = crate::live::Tail::of(&host, &ann, &format!("conversation={room}")).await;
    let typing = json!({"conversation": room, "typing": true});
    assert_eq!(host.post(&auditor, "/v1/typing", typing).await.refused(403), "FORBIDDEN");
    host.say(&ann, &room, "nobody typed").await;
    assert_eq!(tail.next().await.unwrap().0, "message_posted");
}

// covers: OPS-425
#[tokio::test]
async fn only_an_operator_changes_owner_and_identities_of_a_member() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, boss) = (host.operator(), host.token_of("boss", "orchestrator").await);
    let before = host.get(&op, "/v1/members").await.ok();
    let slack = json!([{"platform": "slack", "id": "U1"}]);
    for (member, patch) in [
        ("bot", json!({"owner_id": "boss"})),
        ("bot", json!({"identities": slack})),
        ("ann", json!({"owner_id": "boss", "display_name": "Ann"})),
        ("ann", json!({"identities": slack})),
    ] {
        let path = format!("/v1/members/{member}");
        let refused = host.send(&boss, Method::PATCH, &path, Some(patch)).await.refused(403);
        assert_eq!(refused, "INSUFFICIENT_AUTHORITY", "{member}");
    }
    for more in [json!({"owner_id": "boss"}), json!({"identities": slack})] {
        let mut new = json!({"id": "paul", "kind": "human"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = host.post(&boss, "/v1/members", new.clone()).await.refused(403);
        assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
        // Of an agent that it adds, an orchestrator says it.
        new["kind"] = json!("agent");
        new["id"] = json!(if more["owner_id"].is_null() { "aide" } else { "helper" });
        host.post(&boss, "/v1/members", new).await.ok();
    }
    // To somebody else it gives no agent, which could spend what that person has.
    let mole = json!({"id": "mole", "kind": "agent", "owner_id": "ann"});
    let refused = host.post(&boss, "/v1/members", mole).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
    let after = host.get(&op, "/v1/members").await.ok();
    let known = before["members"].as_array().unwrap();
    assert_eq!(&after["members"].as_array().unwrap()[..known.len()], &known[..]);
    let own = json!({"owner_id": "ann", "identities": slack});
    let changed = host.send(&op, Method::PATCH, "/v1/members/bot", Some(own)).await.ok();
    assert_eq!((&changed["owner_id"], &changed["identities"]), (&json!("ann"), &slack));
    // As it is already it may be said with what else is changed.
    let same = json!({"owner_id": "ann", "display_name": "Botty"});
    host.send(&boss, Method::PATCH, "/v1/members/bot", Some(same)).await.ok();
}

// covers: CHN-242
#[tokio::test]
async fn typing_where_one_sees_nothing_is_answered_alike_however_often() {
    let host = TestHost::open().await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "eve", "kind": "human"})).await.ok();
    let new = json!({"title": "board", "visibility": "private"});
    let private = host.post(&op, "/v1/channels", new).await.ok()["id"].clone();
    let nowhere = json!("ch_0192f0c1a2b37c4d8e5f60718293a4b5");
    let eve = host.token("eve").await;
    for room in [&private, &private, &nowhere, &nowhere] {
        let typing = json!({"conversation": room, "typing": true});
        assert_eq!(host.post(&eve, "/v1/typing", typing).await.refused(404), "NOT_FOUND");
    }
}

// covers: OPS-417
#[tokio::test]
async fn sender_of_an_inbox_is_shown_to_those_concerned_only() {
    let host = TestHost::open().await;
    let (_, id) = crate::inboxes::with_inbox(&host, json!({"name": "the board's own Slack"})).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "ann", "kind": "human"})).await.ok();
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let id = id.strip_prefix("inb_").unwrap_or(&id).to_owned();
    for (token, shown) in [(&op, true), (&bot, true), (&ann, false)] {
        let all = host.get(token, "/v1/members").await.ok().to_string();
        assert_eq!(all.contains("the board's own Slack"), shown, "{all}");
        assert_eq!(all.contains(&id), shown);
    }
}

// covers: OPS-497
#[tokio::test]
async fn stand_ins_are_marked_and_counted_among_nobody() {
    let host = TestHost::open().await;
    let (_, id) = crate::inboxes::with_inbox(&host, json!({})).await;
    let op = host.operator();
    let members = host.get(&op, "/v1/members").await.ok();
    let marked = members["members"].as_array().unwrap().iter().filter_map(|member| {
        let stands_in_for = member["stands_in_for"].as_str()?;
        Some((stands_in_for.to_owned(), member["kind"].as_str()?.to_owned()))
    });
    let expected = ["human", "agent"].map(|kind| (id.clone(), kind.to_owned()));
    assert_eq!(marked.collect::<Vec<_>>(), expected, "{members}");
    let agents = host.get(&op, "/v1/agents").await.ok();
    let ids: Vec<_> = agents["agents"].as_array().unwrap().iter().map(|a| &a["id"]).collect();
    assert_eq!(ids, ["bot"]);
    let front = host.request(Method::GET, "/").send().await.unwrap().text().await.unwrap();
    assert!(front.contains("<dt>Members</dt><dd>2</dd>"), "{front}");
}

// covers: OPS-419
#[tokio::test]
async fn a_request_has_one_host() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let host = TestHost::open().await;
    let mut stream = tokio::net::TcpStream::connect(host.running.addr).await.unwrap();
    let head = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

// covers: OPS-404
#[tokio::test]
async fn no_requester_approves_its_own_request() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let chief = host.token_of("bot", "orchestrator").await;
    let source = host.post(&ann, "/v1/channels", json!({"kind": "dm", "members": ["bot"]})).await;
    let asked = host.say(&ann, source.ok()["id"].as_str().unwrap(), "tell them what I said").await;
    let room = host.post(&op, "/v1/channels", json!({"title": "out", "members": ["bot", "ann"]}));
    let room = room.await.ok()["id"].as_str().unwrap().to_owned();
    let new = json!({"conversation": room, "text": "what she said", "in_reply_to": asked["event_id"], "idempotency_key": "k"});
    assert_eq!(host.post(&chief, "/v1/messages", new).await.refused(403), "APPROVAL_REQUIRED");
    let waits = host.get(&chief, "/v1/approvals").await.ok();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    let yes = json!({"approved": true});
    assert_eq!(host.post(&chief, &path, yes.clone()).await.refused(403), "INSUFFICIENT_AUTHORITY");
    // It cannot make itself a person who would, either.
    for token in
        [json!({"agent": "ann", "role": "worker"}), json!({"agent": "operator", "role": "worker"})]
    {
        host.post(&chief, "/v1/tokens", token).await.refused(403);
    }
    host.post(&ann, &path, yes).await.ok();
}

// covers: OPS-414
#[tokio::test]
async fn a_host_that_drains_says_so_to_the_end() {
    use tokio::io::AsyncWriteExt;
    let set = |config: &mut chorus_server::Config| config.settings.basics.drain_seconds = 0;
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, set).await;
    // An answer that is waited for when the time for draining is over.
    let mut slow = tokio::net::TcpStream::connect(host.running.addr).await.unwrap();
    let head = format!(
        "POST /v1/members HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-length: 99\r\n\r\n{{",
        host.operator()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    let ready = host.url("/readyz");
    assert_eq!(reqwest::get(&ready).await.unwrap().status().as_u16(), 200);
    let TestHost { running, .. } = host;
    let stopping = tokio::spawn(running.stop());
    // A connection of its own each time, as a load balancer makes.
    let status = async || reqwest::get(&ready).await.unwrap().status().as_u16();
    eventually("the host says that it is not ready", async || status().await == 503).await;
    for _ in 0..3 {
        assert_eq!(
            reqwest::get(&ready).await.unwrap().text().await.unwrap(),
            "not ready: draining\n"
        );
    }
    drop(slow);
    stopping.await.unwrap();
}
