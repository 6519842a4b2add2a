#![allow(clippy::unwrap_used)]
use super::*;

fn named(name: &str) -> WorkspaceName {
    WorkspaceName::parse(name).unwrap()
}

// covers: OPS-161
#[test]
fn a_name_is_taken_once_and_by_nothing_that_looks_like_it() {
    let data = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(data.path(), Timestamp(1)).unwrap();
    assert_eq!(catalog.find("acme").unwrap(), None);
    assert!(!data.path().join(FILE).exists(), "one team has no catalog");
    assert_eq!(catalog.add(&named("acme"), State::Active, Timestamp(5)).unwrap(), Added::New);
    for other in ["acme", "acrne", "ac-me"] {
        assert_eq!(
            catalog.add(&named(other), State::Active, Timestamp(6)).unwrap(),
            Added::Taken("acme".to_owned())
        );
    }
    let again = Catalog::open(data.path(), Timestamp(9)).unwrap();
    let found = again.find("acme").unwrap().unwrap();
    assert_eq!((found.state, found.created_at), (State::Active, Timestamp(5)));
}

// covers: OPS-164
#[test]
fn what_is_suspended_is_never_due_and_what_is_deleted_is_removed_in_its_time() {
    let data = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(data.path(), Timestamp(1)).unwrap();
    for name in ["acme", "globex", "initech"] {
        catalog.add(&named(name), State::Active, Timestamp(1)).unwrap();
    }
    let initech = catalog.find("initech").unwrap().unwrap();
    fs::create_dir_all(catalog.folder(&initech)).unwrap();
    let due = |at| catalog.due(Timestamp(at), 9).unwrap();
    assert_eq!(due(0), []);
    assert_eq!(due(1), ["acme", "globex", "initech"].map(named));
    catalog.set_open("acme").unwrap();
    assert_eq!(due(9), ["globex", "initech"].map(named), "one that is open is not due");
    catalog.set_due("acme", Timestamp(50)).unwrap();
    let mut globex = catalog.find("globex").unwrap().unwrap();
    globex.state = State::Suspended;
    catalog.set_state(&globex, Timestamp(2)).unwrap();
    catalog.set_due("globex", Timestamp(3)).unwrap();
    let (state, removal_at) = (State::Deleted, Some(Timestamp(40)));
    let deleted = Entry { state, removal_at, ..initech.clone() };
    catalog.set_state(&deleted, Timestamp(2)).unwrap();
    assert_eq!(due(49), []);
    assert_eq!(due(50), [named("acme")]);
    assert_eq!(catalog.to_remove(Timestamp(39), 9).unwrap(), []);
    assert_eq!(catalog.to_remove(Timestamp(40), 9).unwrap(), [named("initech")]);
    let held = Folder::hold(&catalog.folder(&initech)).unwrap();
    assert!(catalog.remove(&initech, None).is_err(), "somebody has it");
    assert!(catalog.find("initech").unwrap().is_some());
    drop(held);
    catalog.remove(&initech, None).unwrap();
    assert_eq!(catalog.find("initech").unwrap(), None);
    assert!(!catalog.folder(&initech).exists());
    let names = |after| catalog.list(after, 1).unwrap()[0].name.to_string();
    assert_eq!([names(""), names("acme")], ["acme", "globex"]);
}

// covers: OPS-163
#[test]
fn one_that_was_open_when_the_host_ended_is_due_when_it_begins() {
    let data = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(data.path(), Timestamp(1)).unwrap();
    catalog.add(&named("acme"), State::Active, Timestamp(1)).unwrap();
    assert!(!catalog.find("acme").unwrap().unwrap().is_made);
    catalog.set_open("acme").unwrap();
    catalog.set_made("acme").unwrap();
    assert_eq!(catalog.due(Timestamp(9), 9).unwrap(), []);
    drop(catalog);
    let catalog = Catalog::open(data.path(), Timestamp(7)).unwrap();
    assert_eq!(catalog.due(Timestamp(7), 9).unwrap(), [named("acme")]);
    assert!(catalog.find("acme").unwrap().unwrap().is_made);
}

// covers: OPS-165
#[test]
fn a_folder_that_was_put_there_is_taken_in() {
    let data = tempfile::tempdir().unwrap();
    for name in ["acme", "no_name", "empty"] {
        fs::create_dir_all(data.path().join(FOLDER).join(name)).unwrap();
    }
    for name in ["acme", "no_name"] {
        let folder = data.path().join(FOLDER).join(name);
        fs::write(Folder::database_in(&folder), b"its database").unwrap();
    }
    let catalog = Catalog::open(data.path(), Timestamp(7)).unwrap();
    let found = catalog.list("", 9).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].name, found[0].state), ("acme", State::Active));
    assert_eq!(catalog.due(Timestamp(7), 9).unwrap(), [named("acme")]);
}
