//! The index of search beside the log: made from it, kept up with it, and never holding what has gone.

use std::collections::HashSet;
use std::path::Path;

use chorus_core::commands::{messages, retention};
use chorus_core::language::search::Query;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Keep;
use chorus_core::model::event::{Message, Reason};
use chorus_core::model::ids::{ConversationKey, EventRef, Timestamp, Uid};
use chorus_core::queries;
use chorus_store::search::{Ask, Index, Search};
use chorus_store::{Options, Readers};

use crate::ground::{Ground, options, person};

/// The workspace of every ground.
const WORKSPACE: Uid = Uid(0xab);

/// Reads all that there is, in steps of a few.
fn catch_up(index: &mut Index, readers: &Readers) {
    for key in index.behind(readers).unwrap() {
        while index.step(readers, key, 3).unwrap().more {}
    }
    assert_eq!(index.behind(readers).unwrap(), []);
    assert!(index.scrub().unwrap(), "nobody searches");
}

fn find(search: &Search, readers: &Readers, text: &str) -> Vec<u64> {
    let query = Query::read(text).unwrap();
    let among: HashSet<ConversationKey> =
        readers.conversations(None).unwrap().iter().map(|c| c.key).collect();
    let ask = Ask {
        query: &query,
        among: &among,
        author: None,
        from: None,
        until: None,
        top: None,
        now: Timestamp(0),
    };
    let mut found: Vec<u64> =
        search.find(&ask).unwrap().hits.into_iter().map(|at| at.seq.0).collect();
    found.sort_unstable();
    found
}

/// Whether the bytes stand anywhere in the files of the index.
fn holds(folder: &Path, text: &str) -> bool {
    ["search.db", "search.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(folder.join(name)).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

fn said(ground: &Ground, room: Uid, text: &str) -> (Uid, u64) {
    let entry = ground.say(room, text);
    (entry.event.uid, entry.event.seq.0)
}

// covers: CHN-129
#[test]
fn the_index_is_made_from_the_log_whatever_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle().uid;
    let seqs: Vec<u64> =
        (0..20).map(|n| said(&ground, room, &format!("word number{n}")).1).collect();
    let (search, mut index) = Search::of(folder.path(), WORKSPACE);
    catch_up(&mut index, &ground.readers);
    assert_eq!(find(&search, &ground.readers, "word"), seqs);
    assert_eq!(find(&search, &ground.readers, "number7"), [seqs[7]]);

    // What comes later is read on from there, also by another run.
    drop(index);
    let (_, later) = said(&ground, room, "word later");
    let (search, mut index) = Search::of(folder.path(), WORKSPACE);
    catch_up(&mut index, &ground.readers);
    assert_eq!(find(&search, &ground.readers, "later"), [later]);
    assert_eq!(find(&search, &ground.readers, "word").len(), 21);

    // Damaged in any way, of another workspace, or gone.
    let file = folder.path().join("search.db");
    for damage in [0, 1, 2, 3] {
        drop(index);
        match damage {
            0 => std::fs::write(&file, "this is no database at all, but long enough to be read")
                .unwrap(),
            1 => {
                let bytes = std::fs::read(&file).unwrap();
                std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
            }
            2 => std::fs::remove_file(&file).unwrap(),
            _ => {
                let (_, mut other) = Search::of(folder.path(), Uid(0xcd));
                assert_eq!(other.behind(&ground.readers).unwrap().len(), 1);
            }
        }
        index = Search::of(folder.path(), WORKSPACE).1;
        // It may be found damaged in the middle of it, and is whole the next time.
        for _ in 0..2 {
            for key in index.behind(&ground.readers).unwrap_or_default() {
                while index.step(&ground.readers, key, 100).is_ok_and(|step| step.more) {}
            }
        }
        catch_up(&mut index, &ground.readers);
        let (search, _) = Search::of(folder.path(), WORKSPACE);
        assert_eq!(find(&search, &ground.readers, "word").len(), 21, "{damage}");
    }
    ground.writer.stop();

    // A folder made from a copy, which then went on differently, under the index of what it was before.
    let other = tempfile::tempdir().unwrap();
    let ground = Ground::open(other.path());
    let room = ground.settle().uid;
    let seqs: Vec<u64> = (0..30).map(|n| said(&ground, room, &format!("else word{n}")).1).collect();
    drop(index);
    std::fs::copy(&file, other.path().join("search.db")).unwrap();
    let (search, mut index) = Search::of(other.path(), WORKSPACE);
    catch_up(&mut index, &ground.readers);
    assert_eq!(find(&search, &ground.readers, "else"), seqs);
    assert_eq!(find(&search, &ground.readers, "word"), [0; 0]);
}

// covers: CHN-125, CHN-126
#[test]
fn what_was_edited_deleted_or_erased_leaves_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle().uid;
    let (edited, at) = said(&ground, room, "first draft");
    let (deleted, _) = said(&ground, room, "regrettable");
    let (erased, _) = said(&ground, room, "password xyzzyplugh");
    // Enough beside it that its words stand on pages of many.
    for n in 0..200 {
        said(&ground, room, &format!("filler number{n} xyzzy and plugh apart"));
    }
    let (search, mut index) = Search::of(folder.path(), WORKSPACE);
    let readers = &ground.readers;
    catch_up(&mut index, readers);
    assert_eq!(find(&search, readers, "xyzzyplugh").len(), 1);
    assert!(holds(folder.path(), "xyzzyplugh"));

    let content = Message { text: "second version".into(), ..Message::default() };
    ground.ask(person(), messages::Edit { message: edited, content }).unwrap();
    ground.ask(person(), messages::Delete { message: deleted }).unwrap();
    ground.ask(person(), messages::Erase { message: erased, reason: Reason::Secret }).unwrap();
    catch_up(&mut index, readers);
    assert_eq!(find(&search, readers, "draft"), [0; 0]);
    assert_eq!(find(&search, readers, "\"second version\""), [at]);
    assert_eq!(find(&search, readers, "regrettable"), [0; 0]);
    assert_eq!(find(&search, readers, "xyzzyplugh"), [0; 0]);
    assert_eq!(find(&search, readers, "xyzzy").len(), 200);
    assert!(!holds(folder.path(), "xyzzyplugh"));

    // At once, before the log was read so far.
    let (hasty, seq) = said(&ground, room, "swordfishes");
    catch_up(&mut index, readers);
    assert!(holds(folder.path(), "swordfishes"));
    ground.ask(person(), messages::Erase { message: hasty, reason: Reason::Secret }).unwrap();
    let conversation = readers.conversations(None).unwrap()[0].key;
    index.forget(EventRef { conversation, seq: chorus_core::model::ids::Seq(seq) }).unwrap();
    assert!(!holds(folder.path(), "swordfishes"));
    catch_up(&mut index, readers);
    assert_eq!(find(&search, readers, "number199").len(), 1);
}

/// Drops all that is old.
fn trim(ground: &Ground, conversation: Uid) {
    let may = ground.ask(By::host(), queries::Droppable { conversation }).unwrap();
    let trim = retention::Trim { conversation, through: may.through, erased: None };
    ground.ask(By::host(), trim).unwrap();
}

// covers: OPS-445
#[test]
fn what_is_too_old_to_be_kept_leaves_the_index_and_is_gone_when_the_host_stops() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Options { keep: Keep::Days(1), ..options(folder.path()) };
    let ground = Ground::with(keep, Timestamp(1_000_000));
    let room = ground.settle().uid;
    let (search, mut index) = Search::of(folder.path(), WORKSPACE);
    let readers = &ground.readers;
    for (word, stops) in [("xyzzyplugh", false), ("swordfishes", true)] {
        said(&ground, room, word);
        catch_up(&mut index, readers);
        assert_eq!(find(&search, readers, word).len(), 1);
        assert!(holds(folder.path(), word));
        ground.pass(2 * 24 * 3_600_000);
        trim(&ground, room);
        match stops {
            // It was told to stop before it was told that there is something to drop.
            true => index.finish(readers).unwrap(),
            false => catch_up(&mut index, readers),
        }
        assert!(!holds(folder.path(), word), "{word}");
    }
}
