//! Scenes: small plays, each about a rule or two, with chance in how they go.
//!
//! A scene has people, agents and a room of its own, so that many play at once in one house. One that kills has a house of its
//! own.

mod bounds;
mod compose;
mod hiring;
mod killed;
mod owed;
mod scene;
mod stale;
mod turns;

use std::pin::Pin;

pub(in crate::referee) use scene::Scene;
pub(in crate::referee) use turns::with_a_person;

/// A scene as it is being played; an error is why it came to no verdict.
type Play<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>;

#[derive(Clone, Copy)]
pub(in crate::referee) struct Script {
    pub(in crate::referee) name: &'static str,
    /// How long it takes at most when nothing is wrong: one that would not be over in time is not begun.
    pub(in crate::referee) seconds: u64,
    /// It kills its host.
    pub(in crate::referee) kills: bool,
    pub(in crate::referee) play: for<'a> fn(&'a mut Scene) -> Play<'a>,
}

macro_rules! scripts {
    ($($name:literal $seconds:literal $kills:literal $play:path;)*) => {
        &[$(Script { name: $name, seconds: $seconds, kills: $kills, play: |scene| Box::pin($play(scene)) }),*]
    };
}

pub(in crate::referee) const ALL: &[Script] = scripts! {
    "pieces" 40 false compose::pieces;
    "complete question" 25 false compose::complete;
    "late acknowledgement" 25 false owed::late_ack;
    "put off" 15 false owed::put_off;
    "declined" 15 false owed::declined;
    "asker told" 10 false owed::asker_told;
    "edited" 10 false owed::edited;
    "pages" 10 false owed::has_more;
    "stale turn" 10 false stale::stale;
    "refused calls" 10 false stale::refused;
    "turn passes" 15 false turns::passed;
    "people and turns" 10 false turns::people;
    "places" 15 false turns::places;
    "cancelled" 15 false turns::cancelled;
    "bad asset" 10 false turns::bad_asset;
    "events" 10 false bounds::events;
    "initiative" 25 false bounds::initiative;
    "kept output" 25 true killed::kept;
    "cooldown" 10 true killed::cooldown;
    "turn over a kill" 15 true killed::turn;
    "hired" 15 true hiring::hired;
    "nodded" 180 false owed::nodded;
    "escalated" 345 false owed::escalated;
};
