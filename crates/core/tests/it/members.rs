//! Members: whose id is whose, who owns whom, and the sentences of refusals about what people type.

use chorus_core::commands::{conversations, directory};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Visibility;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::requests::{Home, OpenThread, SettingsPatch};
use chorus_core::model::schedule::When;
use chorus_core::model::thread::ThreadKind;
use chorus_core::model::thread::work::check_words_of;

use crate::house::{ALICE, BOB, House, SCOUT, Say};

fn add(house: &mut House, id: &str, owner: Option<&str>) -> Result<(), Refusal> {
    let fields = MemberFields { owner: owner.map(Into::into), ..MemberFields::default() };
    let (id, kind) = (id.into(), MemberKind::Agent);
    house.run(By::host(), directory::AddMember { id, kind, fields }).map(drop)
}

// covers: OPS-493
#[test]
fn the_id_of_a_removed_member_is_never_given_again() {
    let mut house = House::new();
    let why = |refused: Result<(), Refusal>| refused.expect_err("it is taken").message;
    assert_eq!(why(add(&mut house, "bob", None)), "member 'bob' exists already");
    assert_eq!(why(add(&mut house, "Me", None)), "the id 'Me' means whoever asks; choose another");
    house.run(By::host(), directory::RemoveMember { member: BOB }).expect("he is there");
    assert_eq!(
        why(add(&mut house, "bob", None)),
        "bob was a member and has been removed; ids are never given again, choose another"
    );
}

// covers: OPS-494
#[test]
fn an_owner_is_a_member() {
    let mut house = House::new();
    let own = |house: &mut House, owner: &str| {
        let fields = MemberFields { owner: Some(owner.into()), ..MemberFields::default() };
        house.run(house.by(ALICE), directory::ChangeMember { member: SCOUT, fields }).map(drop)
    };
    for owner in ["nosuch", " ", "@bob"] {
        let refused = own(&mut house, owner).expect_err("nobody is called that");
        assert_eq!(refused.code, Code::ValidationError, "{owner}");
        let refused = add(&mut house, "aide", Some(owner)).expect_err("nobody is called that");
        assert_eq!(refused.code, Code::ValidationError, "{owner}");
    }
    own(&mut house, "bob").expect("a member");
    add(&mut house, "aide", Some("bob")).expect("a member");
    // It stays said, whatever becomes of the owner.
    house.run(By::host(), directory::RemoveMember { member: BOB }).expect("he is there");
    own(&mut house, "bob").expect("as it is already");
    assert!(add(&mut house, "other", Some("bob")).is_err());
}

#[test]
fn a_refusal_says_what_is_wrong_with_what_was_typed() {
    let why = |refused: Result<(), Refusal>| refused.expect_err("it is wrong").message;
    let often = When::Every(59_999).check(Timestamp(0));
    assert_eq!(why(often), "`every_ms` is from 60000 (a minute) to 2678400000 (31 days)");
    let words = |text: &str| why(check_words_of("a stimulus", text, 8));
    assert_eq!(words(" \n"), "the text of a stimulus is empty");
    assert_eq!(words("a\0"), "the text of a stimulus has a NUL character");
    let mut house = House::new();
    let stranger = house.add_member("eve", MemberKind::Human);
    let settings = SettingsPatch { visibility: Some(Visibility::Public), ..Default::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change).expect("an operator");
    let refused = house.post(stranger, Say::to(house.ops, "hello")).expect_err("she is outside");
    assert_eq!(refused.message, "you are not a member of this channel; join it first");
}

// covers: OPS-495
#[test]
fn a_thread_without_a_title_is_about_a_message() {
    let mut house = House::new();
    let root = house.says(ALICE, "the deploy is slow");
    let opening = |house: &House, root, title: &str| OpenThread {
        home: Home::In(house.ops),
        root,
        title: title.into(),
        kind: ThreadKind::Conversation,
        owner: None,
        participants: Vec::new(),
        idempotency: None,
    };
    let opened = house.run(house.by(ALICE), opening(&house, Some(root), "")).expect("about that");
    assert_eq!(&*opened.thread.title, "");
    for (root, title) in [(None, ""), (Some(root), " ")] {
        let refused = house.run(house.by(ALICE), opening(&house, root, title));
        assert_eq!(refused.expect_err("it is called nothing").code, Code::ValidationError);
    }
}
