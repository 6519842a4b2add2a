//! What the doctor says of endpoints and inboxes that are damaged, and what of it is mended.

use std::path::Path;

use chorus_server::repair;
use chorus_store::repair::Part;
use serde_json::json;

use super::back::says;
use super::{deliver, with_inbox};
use crate::test_host::{START, TestHost, damage, place, verify};

fn mend(folder: &Path) -> Vec<Part> {
    repair(&place(folder), folder).unwrap().into_iter().map(|repair| repair.part).collect()
}

fn problems(folder: &Path) -> Vec<String> {
    verify(folder).problems.iter().map(ToString::to_string).collect()
}

/// A folder with two endpoints, an inbox with a channel and a callback, and no host.
async fn stopped() -> tempfile::TempDir {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    for (id, sign) in [("weather", true), ("sun", false)] {
        let url = "http://127.0.0.1:9/inbox/sk_1";
        let new = json!({"member": id, "url": url, "channels": [room], "sign": sign});
        host.post(&host.operator(), "/v1/endpoints", new).await.ok();
    }
    let (path, _) = with_inbox(&host, json!({})).await;
    deliver(&host, &path, &says("m1", "and?", "http://127.0.0.1:9/cb/1")).await.ok();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(problems(folder.path()), [""; 0]);
    folder
}

// covers: WHK-86, CHN-200
#[tokio::test]
async fn doctor_names_and_repairs_damaged_endpoints_and_inboxes() {
    let folder = stopped().await;
    let folder = folder.path();
    assert_eq!(mend(folder), []);
    for (sql, named, parts) in [
        (
            "UPDATE endpoint SET member = 999 WHERE workspace = 1 AND signing IS NULL",
            "the endpoint of member 999 is of nobody who is an agent here",
            &[Part::Endpoint][..],
        ),
        ("UPDATE remote SET owed = 1 - owed WHERE workspace = 1", "the channel of", &[Part::Inbox]),
        (
            "UPDATE remote SET packed = channel WHERE workspace = 1",
            "the channel of",
            &[Part::Inbox],
        ),
        (
            "UPDATE callback SET seq = seq + 9000 WHERE workspace = 1",
            "1 callbacks are of no channel's messages",
            &[Part::Inbox],
        ),
        ("DELETE FROM remote WHERE workspace = 1", "counts 1 channels of 0", &[Part::Inbox]),
        ("UPDATE endpoint SET state = 99 WHERE workspace = 1", "cannot be read", &[Part::Endpoint]),
        ("UPDATE inbox SET packed = uid WHERE workspace = 1", "cannot be read", &[Part::Inbox]),
    ] {
        damage(folder, sql);
        let all = problems(folder);
        assert!(all.iter().any(|what| what.contains(named)), "{sql}: {all:?}");
        assert_eq!(mend(folder), parts, "{sql}");
        assert_eq!(problems(folder), [""; 0], "{sql}");
        assert_eq!(mend(folder), [], "{sql}");
    }
}

// covers: WHK-86, CHN-200
#[tokio::test]
async fn channels_go_with_their_inbox_and_an_inbox_with_its_agent() {
    let folder = stopped().await;
    damage(folder.path(), "DELETE FROM inbox WHERE workspace = 1");
    let all = problems(folder.path());
    assert!(all.iter().any(|p| p.contains("a channel of an inbox that is not there")), "{all:?}");
    assert_eq!(mend(folder.path()), [Part::Inbox, Part::Inbox], "the channel, and its callback");
    assert_eq!(problems(folder.path()), [""; 0]);

    let folder = stopped().await;
    damage(folder.path(), "UPDATE member SET removed = 1 WHERE workspace = 1 AND id = 'bot'");
    let all = problems(folder.path());
    assert!(all.iter().any(|p| p.contains("it is for nobody who is an agent here")), "{all:?}");
    assert_eq!(mend(folder.path()), [Part::Inbox]);
    assert_eq!(problems(folder.path()), [""; 0]);
    assert_eq!(mend(folder.path()), []);
    // A host takes it as it is, and the audit log says what was mended.
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    let op = host.operator();
    assert_eq!(host.get(&op, "/v1/inboxes").await.ok()["inboxes"], json!([]));
    let members = host.get(&op, "/v1/members").await.ok().to_string();
    assert!(!members.contains("inbox_"), "its stand-ins went with it: {members}");
    let audit = host.get(&op, "/v1/audit?kind=repaired").await.ok();
    assert_eq!(audit["entries"][0]["name"], "inbox", "{audit}");
}

// covers: WHK-79, WHK-86
#[tokio::test]
async fn doctor_names_secrets_that_the_keys_do_not_open() {
    let folder = stopped().await;
    let folder = folder.path();
    for (sql, named) in [
        ("UPDATE callback SET sealed = 'sealed1:AAAA' WHERE workspace = 1", "a callback of"),
        (
            "UPDATE endpoint SET url = 'sk_plain' WHERE workspace = 1 AND signing IS NULL",
            "the string of",
        ),
        (
            "UPDATE endpoint SET signing = url || 'A' WHERE workspace = 1 AND signing IS NOT NULL",
            "signs with",
        ),
    ] {
        let before = problems(folder).len();
        damage(folder, sql);
        let all = problems(folder);
        assert_eq!(all.len(), before + 1, "{sql}: {all:?}");
        assert!(all.iter().all(|what| what.contains("cannot be opened")), "{all:?}");
        assert!(all.iter().any(|what| what.contains(named)), "{sql}: {all:?}");
        assert!(!all.iter().any(|what| what.contains("sealed1")), "{all:?}");
        // Nobody can: another string is to be given.
        assert_eq!(mend(folder), [], "{sql}");
    }
    // Under other keys nothing opens; where there are none, that alone is said.
    let keys = folder.join("keys");
    std::fs::rename(&keys, folder.join("away")).unwrap();
    let gone = problems(folder);
    assert!(gone.len() == 1 && gone[0].contains("its keys are not in"), "{gone:?}");
    std::fs::create_dir(&keys).unwrap();
    std::fs::copy(folder.join("away/signing.pem"), keys.join("signing.pem")).unwrap();
    std::fs::write(keys.join("turn.key"), [7; 32]).unwrap();
    assert_eq!(problems(folder).len(), 4);
}
