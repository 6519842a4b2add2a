//! The public turns of a subject, packed into one row.

use super::form::{Bits, Elsewhere, Trailing};
use super::stored::{Form, Rest, Stored};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::{MemberKey, Seq};
use crate::model::turn::{Lease, Output, Turn};

row!(turn, read_turn: Turn);

record!(Turn {
    fence,
    addressees,
    spent,
    counted: Counted,
    spoke,
    passed,
    alone,
    leases: Elsewhere,
    outputs: Elsewhere,
} then Runs);

record!(Output { member, cause, fence, message });

record!(Lease {
    member,
    cause,
    fence,
    granted_at,
    accepted + said + prepaid + nodded: Bits,
    superseded,
    since,
});

/// The event of a message that was counted is 0 when none was.
struct Counted;

impl Form<Option<(MemberKey, Seq)>> for Counted {
    fn put(value: &Option<(MemberKey, Seq)>, out: &mut Writer) {
        value.map(|(member, _)| member).put(out);
        value.map_or(Seq(0), |(_, seq)| seq).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Option<(MemberKey, Seq)>> {
        let (member, seq) = (Option::get(r)?, Seq::get(r)?);
        Ok(member.map(|member| (member, seq)))
    }
}

/// The leases, then the outputs unless there are none. Rows of older versions have a run's output at the end
/// of its lease.
struct Runs;

/// Ends a lease.
const NO_OUTPUT: u8 = 0;
const OUTPUT: u8 = 1;

impl Rest<Turn> for Runs {
    fn put_rest(turn: &Turn, out: &mut Writer) {
        out.number(turn.leases.len() as u64);
        for lease in &turn.leases {
            lease.put(out);
            out.byte(NO_OUTPUT);
        }
        Trailing::put(&turn.outputs, out);
    }

    fn get_rest(turn: &mut Turn, r: &mut Reader<'_>) -> Result<()> {
        for _ in 0..r.count()? {
            let lease = Lease::get(r)?;
            match r.byte()? {
                NO_OUTPUT => {}
                OUTPUT => {
                    let (member, cause) = (lease.member, lease.cause);
                    // The run that goes on is the one that has put it out.
                    let (fence, message) = (u32::MAX, Stored::get(r)?);
                    turn.outputs.push(Output { member, cause, fence, message });
                }
                _ => return Err(Corrupt),
            }
            turn.leases.push(lease);
        }
        // A row has its outputs in one place.
        if !turn.outputs.is_empty() {
            return if r.0.is_empty() { Ok(()) } else { Err(Corrupt) };
        }
        turn.outputs = Trailing::get(r)?;
        Ok(())
    }
}
