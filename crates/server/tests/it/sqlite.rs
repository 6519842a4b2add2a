//! What a folder's one file can be made to say: only on SQLite.

use std::path::Path;

use serde_json::json;

use crate::house::{House, PATIENCE, doctor, verify};
use crate::retention::{days, set};

// covers: OPS-11
#[tokio::test]
async fn each_day_the_ends_are_kept_and_a_log_that_was_put_back_is_found() {
    let house = House::open().await;
    let room = house.room(&[]).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "first").await;
    let House { running, folder, .. } = house;
    running.stop().await;
    let copy = std::fs::read(folder.path().join("chorus.db")).unwrap();
    let day = 24 * 3_600_000;
    let house = House::open_in(folder, crate::house::START.plus(day)).await;
    house.say(&ann, &room, "second").await;
    let House { running, folder, .. } = house;
    running.stop().await;
    let house = House::open_in(folder, crate::house::START.plus(2 * day)).await;
    let House { running, folder, .. } = house;
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
async fn what_is_dropped_is_in_no_file_of_the_folder() {
    let house = House::open().await;
    let room = house.room(&[]).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "the word is xyzzyplugh").await;
    assert!(house.running.searchable(PATIENCE).await);
    assert!(holding(house.folder.path(), "xyzzyplugh") >= 2, "the log and the index");
    set(&house, &room, json!({"keep": "1d"})).await;
    days(&house, 2).await;
    // Somebody may just read; it is tried again until nobody does.
    let began = std::time::Instant::now();
    while holding(house.folder.path(), "xyzzyplugh") > 0 {
        assert!(began.elapsed() < PATIENCE, "it is still there");
        house.pass(250).await;
        house.running.searchable(PATIENCE).await;
    }
    // What is dropped just before a stop is gone with it.
    let ann = house.token("ann").await;
    house.say(&ann, &room, "and now it is swordfishes").await;
    house.running.searchable(PATIENCE).await;
    days(&house, 2).await;
    let House { running, folder, .. } = house;
    running.stop().await;
    assert_eq!(holding(folder.path(), "swordfishes"), 0);
    assert_eq!(verify(folder.path()).problems, []);
}
