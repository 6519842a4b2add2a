//! An event with its deliveries and claim, packed into one row.

use super::form::{Bits, Elsewhere, Trailing};
use super::stored::{Cases, End, Form, Part, Stored};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::claim::Claim;
use crate::model::delivery::{Before, Clock, Delivery, Open, Retry, State, Taken};
use crate::model::ids::Uid;

row!(open, read_open: Open, room |it| 64 + 12 * it.attention.told.len() + 48 * it.deliveries.len());

record!(Open {
    seq,
    uid: Halves,
    at,
    thread,
    author,
    hop,
    attention,
    deliveries,
    claim,
    stored: InARow,
    subject: Elsewhere,
    edit_of: Trailing,
});

record!(Claim { holder, fence, expires, accepted });

// No state has the tag of a part, so that rows from before there was such a part read as they always did.
record!(Delivery {
    member,
    decision,
    voice: Elsewhere,
    over: Elsewhere,
    carried: Elsewhere,
    heard: Elsewhere,
    moved_on: Elsewhere,
    state: StateTag,
} tagged {
    32 = clock,
    33 => Callback,
    34 = retry,
    35 = before,
    36 = taken,
    37 = note,
    38 = epoch,
} until StateTag {
    attempt,
    fence,
    offered_at,
    accepted_at,
    retrieved_at,
    said,
    reminders,
});

cases!(State {
    1 = Waiting,
    2 = Offered { session, at },
    3 = Accepted { session, at, life, gone },
    4 = Settled { disposition, at },
    5 = Dead { at },
    6 = Deferred { at },
});

default_is_absent!(Clock, Before);

// A plain one is not written: it would be a second encoding of the same.
record!(Clock { deferrals, until, withheld, stood_ms } if |it| *it != Clock::default());

record!(Before { fence, connection } if |it| *it != Before::default());

record!(Taken { at, life });

record!(Retry { failed, until, epoch } if |it| it.failed > 0);

/// A delivery that goes by a callback, or has moved on.
struct Callback;

impl Callback {
    fn bits(of: &Delivery) -> (bool, bool, bool, bool) {
        (of.over, of.carried, of.heard, of.moved_on)
    }
}

impl Part<Delivery> for Callback {
    fn is_absent(of: &Delivery) -> bool {
        of.voice == 0 && Self::bits(of) == (false, false, false, false)
    }

    fn put_part(of: &Delivery, out: &mut Writer) {
        of.voice.put(out);
        Bits::put(&Self::bits(of), out);
    }

    fn get_part(of: &mut Delivery, r: &mut Reader<'_>) -> Result<()> {
        of.voice = Stored::get(r)?;
        (of.over, of.carried, of.heard, of.moved_on) = Bits::get(r)?;
        if Self::is_absent(of) { Err(Corrupt) } else { Ok(()) }
    }
}

/// A delivery's state ends the parts: its tag is not one of theirs.
struct StateTag;

impl Form<State> for StateTag {
    fn put(_: &State, _: &mut Writer) {}

    fn get(_: &mut Reader<'_>) -> Result<State> {
        Ok(State::Waiting)
    }
}

impl End<Delivery> for StateTag {
    fn next(r: &mut Reader<'_>) -> Result<u8> {
        r.byte()
    }

    fn put(of: &Delivery, out: &mut Writer) {
        of.state.put(out);
    }

    fn get(of: &mut Delivery, tag: u8, r: &mut Reader<'_>) -> Result<()> {
        of.state = State::get_fields(tag, r)?;
        Ok(())
    }
}

/// An id as two numbers.
struct Halves;

impl Form<Uid> for Halves {
    fn put(value: &Uid, out: &mut Writer) {
        out.number((value.0 >> 64) as u64);
        out.number(value.0 as u64);
    }

    fn get(r: &mut Reader<'_>) -> Result<Uid> {
        Ok(Uid(u128::from(r.number()?) << 64 | u128::from(r.number()?)))
    }
}

/// What is read comes out of a row.
struct InARow;

impl Form<bool> for InARow {
    fn put(_: &bool, _: &mut Writer) {}

    fn get(_: &mut Reader<'_>) -> Result<bool> {
        Ok(true)
    }
}
