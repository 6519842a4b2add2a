//! What a folder's one file can be made to say: only on SQLite.

use std::path::Path;

use chorus_testing::eventually;
use serde_json::json;

use crate::retention::{days, set};
use crate::test_host::{PATIENCE, TestHost, doctor, verify};

// covers: OPS-11
#[tokio::test]
async fn each_day_the_ends_are_kept_and_a_log_that_was_put_back_is_found() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "first").await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let copy = std::fs::read(folder.path().join("chorus.db")).unwrap();
    let day = 24 * 3_600_000;
    let host = TestHost::open_in(folder, crate::test_host::START.plus(day)).await;
    host.say(&ann, &room, "second").await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, crate::test_host::START.plus(2 * day)).await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let files = || std::fs::read_dir(folder.path().join("heads")).unwrap().flatten();
    assert_eq!(files().count(), 3);
    assert_eq!(verify(folder.path()).problems, []);

    // The database of the first day is whole in itself, and less than was noted beside it.
    let newest = std::fs::read(folder.path().join("chorus.db")).unwrap();
    std::fs::write(folder.path().join("chorus.db"), copy).unwrap();
    let problems = doctor(folder.path()).problems;
    assert!(problems.len() == 1 && problems[0].what.contains("ends before"), "{problems:?}");
    let report = verify(folder.path());
    assert!(report.problems.iter().any(|p| p.what.contains("cut or written anew")), "{report:?}");

    std::fs::write(folder.path().join("chorus.db"), newest).unwrap();
    let mut files: Vec<_> = files().map(|file| file.path()).collect();
    files.sort();
    let text = std::fs::read_to_string(&files[2]).unwrap();
    std::fs::write(&files[2], text.replace("\"seq\":", "\"seq\":1")).unwrap();
    let report = verify(folder.path());
    assert!(report.problems.iter().any(|p| p.what.contains("signature")), "{report:?}");
}

/// How many files of a folder have these bytes in them.
fn holding(folder: &Path, text: &str) -> usize {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let bytes = files.filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap());
    bytes.filter(|bytes| bytes.windows(text.len()).any(|w| w == text.as_bytes())).count()
}

// covers: OPS-445
#[tokio::test]
async fn dropped_text_is_in_no_file_of_the_folder() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "the word is xyzzyplugh").await;
    assert!(host.running.searchable(PATIENCE).await);
    assert!(holding(host.folder.path(), "xyzzyplugh") >= 2, "the log and the index");
    set(&host, &room, json!({"keep": "1d"})).await;
    days(&host, 2).await;
    // Somebody may just read; it is tried again until nobody does.
    eventually("the word is in no file", async || {
        host.pass(250).await;
        host.running.searchable(PATIENCE).await;
        holding(host.folder.path(), "xyzzyplugh") == 0
    })
    .await;
    // What is dropped just before a stop is gone with it.
    let ann = host.token("ann").await;
    host.say(&ann, &room, "and now it is swordfishes").await;
    host.running.searchable(PATIENCE).await;
    days(&host, 2).await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(holding(folder.path(), "swordfishes"), 0);
    assert_eq!(verify(folder.path()).problems, []);
}
