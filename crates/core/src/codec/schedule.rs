//! A schedule for its row.

use super::form::{Both, Elsewhere, Present, Trailing};
use super::stored::{Form, Rest, Stored, put_list};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::schedule::{Firing, Schedule, When};

row!(schedule, read_schedule: Schedule);

record!(Schedule {
    uid: Present,
    when,
    source,
    maker,
    thread: Both,
    text,
    title,
    targets,
    progress_key,
    initiative_key,
    created_at,
    paused,
    next_at,
    fired,
    firings: Last,
    salt,
    chain: Elsewhere,
} then Earlier);

cases!(When {
    1 = Every(ms),
    2 = Cron { expression, zone },
});

record!(Firing { at, stimulus: Present, how });

/// The last firing alone.
struct Last;

impl Form<Vec<Firing>> for Last {
    fn put(value: &Vec<Firing>, out: &mut Writer) {
        Firing::put_option(value.last(), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Vec<Firing>> {
        let mut firings = Vec::new();
        firings.extend(Option::<Firing>::get(r)?);
        Ok(firings)
    }
}

/// The firings before the last, and the chain. Rows that were written first know neither, and end before them.
struct Earlier;

impl Earlier {
    fn of(s: &Schedule) -> &[Firing] {
        s.firings.split_last().map_or(&[], |(_, earlier)| earlier)
    }

    fn is_absent(s: &Schedule) -> bool {
        Self::of(s).is_empty() && s.chain.is_none()
    }
}

impl Rest<Schedule> for Earlier {
    fn put_rest(s: &Schedule, out: &mut Writer) {
        if !Self::is_absent(s) {
            put_list(Self::of(s).iter(), out);
            Trailing::put(&s.chain, out);
        }
    }

    fn get_rest(s: &mut Schedule, r: &mut Reader<'_>) -> Result<()> {
        if r.0.is_empty() {
            return Ok(());
        }
        let count = r.count()?;
        if count > 0 && s.firings.is_empty() {
            return Err(Corrupt);
        }
        for _ in 0..count {
            s.firings.push(Stored::get(r)?);
        }
        if count > 0 {
            // What was read first is the last.
            s.firings.rotate_left(1);
        }
        s.chain = Trailing::get(r)?;
        if Self::is_absent(s) { Err(Corrupt) } else { Ok(()) }
    }
}
