//! Who was told of an event, packed: a few bytes a told member, and two for everybody else.

use super::stored::{Form, Stored};
use super::{Coded, Corrupt, Reader, Result, Writer};
use crate::model::attention::{Attention, Decision, Intent, Told};
use crate::model::flow::{Clues, Meant, Nobody};

row!(attention, read_attention: Attention, room |it| 8 + 12 * it.told.len());

/// Set in the first byte when the list of whom it is shown to follows; codes of intents are below it.
const WITH_ONLY: u8 = 0x80;
/// Set in it when whom the flow of talk says it is for stands after that.
const WITH_MEANT: u8 = 0x40;
/// Set in it when why it says that it is for nobody stands there.
const WITH_NOBODY: u8 = 0x20;
/// Set in it when what the sender stated stands there.
const WITH_STATED: u8 = 0x10;
const WITH: u8 = WITH_ONLY | WITH_MEANT | WITH_NOBODY | WITH_STATED;

/// The first byte says which parts follow, so `record!` cannot say it.
impl Stored for Attention {
    fn put(&self, out: &mut Writer) {
        let flag = |on: bool, flag: u8| if on { flag } else { 0 };
        let flags = flag(self.only.is_some(), WITH_ONLY)
            | flag(self.meant.is_some(), WITH_MEANT)
            | flag(self.nobody.is_some(), WITH_NOBODY)
            | flag(self.stated.is_some(), WITH_STATED);
        out.byte(self.intent.code() | flags);
        self.rest.put(out);
        self.only.iter().for_each(|only| only.put(out));
        self.meant.iter().for_each(|meant| meant.put(out));
        self.nobody.iter().for_each(|nobody| nobody.put(out));
        self.stated.iter().for_each(|stated| stated.put(out));
        self.told.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        fn part<T: Stored>(is_there: u8, r: &mut Reader<'_>) -> Result<Option<T>> {
            if is_there > 0 { T::get(r).map(Some) } else { Ok(None) }
        }
        let first = r.byte()?;
        let intent = Intent::from_code(first & !WITH).ok_or(Corrupt)?;
        let rest = Stored::get(r)?;
        let only = part(first & WITH_ONLY, r)?;
        let meant = part(first & WITH_MEANT, r)?;
        let nobody = part(first & WITH_NOBODY, r)?;
        let stated = part(first & WITH_STATED, r)?;
        Ok(Self { intent, rest, only, meant, nobody, stated, told: Stored::get(r)? })
    }
}

record!(Meant { member, confidence, because + against: Reasons });

record!(Nobody { confidence, because + against: Reasons });

record!(Told { member, decision });

record!(Decision { rule, directedness, policy, mode, priority, deadline_ms });

/// Rules for and against in one number. What was written when only those for it were kept is the same number.
struct Reasons;

impl Form<(Clues, Clues)> for Reasons {
    fn put((because, against): &(Clues, Clues), out: &mut Writer) {
        out.number(u64::from(against.0) << 16 | u64::from(because.0));
    }

    fn get(r: &mut Reader<'_>) -> Result<(Clues, Clues)> {
        let both = u32::get(r)?;
        Ok((Clues(both as u16), Clues((both >> 16) as u16)))
    }
}
