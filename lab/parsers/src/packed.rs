//! What is packed in the database and in the lines of an export.

use chorus_core::codec::{self as core, Corrupt};
use chorus_core::model::conversation::Settings;
use chorus_core::model::ids::{Seq, Timestamp};

/// The first byte says what is packed. What is read is the same once it was packed again.
pub fn packed(data: &[u8]) {
    let Some((which, data)) = data.split_first() else { return };
    match which % 23 {
        0 => event(data),
        1 => again(data, core::read_attention, core::attention),
        2 => again(data, core::read_work, core::work),
        3 => again(data, core::read_project, core::project),
        4 => again(data, core::read_task, core::task),
        5 => again(data, core::read_schedule, core::schedule),
        6 => again(data, core::read_digest, core::digest),
        7 => again(data, core::read_inbox, core::inbox),
        8 => again(data, core::read_stimulus, core::stimulus),
        9 => again(data, core::read_turn, core::turn),
        10 => again(data, core::read_open, core::open),
        11 => again(data, core::read_members, core::members),
        12 => again(data, core::read_reactions, |list| core::reactions(list)),
        13 => again(data, core::read_asked, core::asked),
        14 => settings(data),
        15 => {
            again(data, |bytes| core::read_base(Seq(1), [0; 32], Timestamp(1), bytes), core::base);
        }
        16 => again(data, core::read_wake, core::wake),
        17 => again(data, core::read_job, core::job),
        18 => again(data, core::read_listing, core::listing),
        19 => again(data, core::read_entry, core::entry),
        20 => again(data, core::read_account, core::account),
        21 => again(data, core::read_spending, core::spending),
        _ => again(data, core::read_reputation_change, core::reputation_change),
    }
}

/// The body of an event, whose bytes are what its hash is over.
fn event(data: &[u8]) {
    let Some((code, data)) = data.split_first() else { return };
    let Ok(change) = core::read_body(*code, data) else { return };
    let again = core::body(&change);
    assert_eq!(core::read_body(*code, &again), Ok(change));
}

fn settings(data: &[u8]) {
    let mut first = Settings::default();
    if core::read_later_settings(data, &mut first).is_err() {
        return;
    }
    let mut second = Settings::default();
    assert_eq!(core::read_later_settings(&core::later_settings(&first), &mut second), Ok(()));
    assert_eq!(first, second);
}

fn again<T>(
    data: &[u8],
    read: impl Fn(&[u8]) -> Result<T, Corrupt>,
    write: impl Fn(&T) -> Vec<u8>,
) {
    let Ok(value) = read(data) else { return };
    let bytes = write(&value);
    // One value has one encoding: the same bytes are the same value.
    assert_eq!(read(&bytes).map(|value| write(&value)), Ok(bytes));
}
