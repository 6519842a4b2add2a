//! What a folder's one file can be made to say: only on SQLite.

use crate::house::{House, doctor, verify};

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

    // The database of the first day is whole in itself.
    let newest = std::fs::read(folder.path().join("chorus.db")).unwrap();
    std::fs::write(folder.path().join("chorus.db"), copy).unwrap();
    assert_eq!(doctor(folder.path()).problems, []);
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
