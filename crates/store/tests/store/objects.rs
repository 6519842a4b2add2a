//! Files whose bytes are objects: their names stay until the objects are gone, and are one file's alone.

use chorus_core::commands::assets::{ForgetObjects, KeepAsset, SweepAssets};
use chorus_core::model::asset::{Media, in_object, object};
use chorus_core::model::caller::By;
use chorus_core::model::error::Code;

use crate::ground::{ADA, Ground, by, doctor, person};

const HASH: [u8; 32] = [7; 32];
const DAY: i64 = 24 * 3_600_000;

fn kept(name: &str, object: &str) -> KeepAsset {
    let (media, bytes) = (Media::Text, 100_000);
    KeepAsset { hash: HASH, name: name.into(), media, bytes, data: in_object(object) }
}

// covers: OPS-174
#[test]
fn the_name_of_an_object_stays_until_the_object_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    ground.settle();
    let of_file = || {
        let (data, _) = ground.readers.asset_data(&HASH).unwrap()?;
        object(&data).map(str::to_owned)
    };
    ground.ask(person(), kept("a.txt", "first")).unwrap();
    // The same bytes again, by somebody else: the object that there is has them.
    ground.ask(by(ADA), kept("b.txt", "second")).unwrap();
    assert_eq!(of_file().as_deref(), Some("first"));
    assert!(ground.readers.is_named(&HASH, "first").unwrap());
    assert!(!ground.readers.is_named(&HASH, "second").unwrap());
    assert_eq!(ground.readers.dropped_objects().unwrap(), []);
    // Whoever would forget one that is in use changes nothing.
    let forget = |name: &str| {
        let objects = vec![(HASH, name.to_owned())];
        ground.ask(By::host(), ForgetObjects { objects }).unwrap();
    };
    forget("first");
    assert_eq!(of_file().as_deref(), Some("first"));
    ground.pass(2 * DAY);
    ground.ask(By::host(), SweepAssets).unwrap();
    assert_eq!(ground.readers.dropped_objects().unwrap(), [(HASH, "first".to_owned())]);
    // The same file comes again before the object is gone: it has an object of its own.
    ground.ask(person(), kept("a.txt", "third")).unwrap();
    assert_eq!(ground.readers.dropped_objects().unwrap(), []);
    forget("first");
    assert_eq!(of_file().as_deref(), Some("third"));
    ground.pass(2 * DAY);
    ground.ask(By::host(), SweepAssets).unwrap();
    forget("third");
    assert_eq!(of_file(), None);
    assert_eq!(ground.readers.dropped_objects().unwrap(), []);
    let mut wrong = kept("c.txt", "fourth");
    wrong.data = b"neither the bytes nor a name".as_slice().into();
    assert_eq!(ground.ask(person(), wrong).unwrap_err().code, Code::ValidationError);
    ground.writer.stop();
    assert!(doctor(folder.path()).problems.is_empty());
}
