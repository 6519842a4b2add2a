//! What a crash makes of a room: restored from its log and rows, it goes on where it was. And what is left of one whose
//! beginning was dropped.

use std::collections::BTreeSet;

use chorus_core::commands::retention::{self, Droppable};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Keep;
use chorus_core::model::error::Code;
use chorus_core::model::ids::Seq;
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::state::room::{Parts, Room};
use chorus_core::{codec, queries};

use super::world::World;

// covers: ATT-102, FAIL-11
/// A room made again from what was written equals the one in memory, but for what is soft.
#[test]
fn a_restored_room_owes_what_the_lost_one_owed() {
    let mut world = World::new(11);
    world.play(2_000);
    for room in world.ws.rooms() {
        let key = room.key();
        let events = world.log.events.values().filter(|e| e.conversation == key).cloned().collect();
        let receipts: BTreeSet<_> = world
            .log
            .receipts
            .keys()
            .filter(|at| at.conversation == key && at.seq > room.head().settled)
            .map(|at| at.seq)
            .collect();
        let pending = world.log.pending.iter();
        let parts = Parts {
            digested: None,
            stimuli: Vec::new(),
            schedules: Vec::new(),
            remote: None,
            gone: Vec::new(),
            conversation: room.conversation().clone(),
            head: *room.head(),
            roster: room.roster().iter().map(|(m, p)| (*m, *p)).collect(),
            threads: room.threads().values().map(|t| (**t).clone()).collect(),
            events,
            pending: pending
                .filter(|(at, _)| at.conversation == key)
                .map(|(_, o)| o.clone())
                .collect(),
            receipts,
            sent: Vec::new(),
            turns: world.log.turns_of(key),
        };
        let again = Room::restore(parts, world.ws.directory(), world.now);
        assert_eq!(again.head(), room.head());
        assert_eq!(again.roster(), room.roster());
        assert_eq!(again.talk(), room.talk(), "the next message is read against the same talk");
        let owed = |room: &Room| {
            let open = room.open().values();
            let all =
                open.flat_map(|o| o.deliveries.iter().map(move |d| (o.seq, d.member, d.is_open())));
            all.filter(|(_, _, open)| *open).collect::<Vec<_>>()
        };
        assert_eq!(owed(&again), owed(room), "{}", room.conversation().settings.title);
    }
}

// covers: OPS-131, OPS-134
/// Step by step, whatever was said in between, the base is what a replay from the first event comes to; and nothing
/// that is owed goes.
#[test]
fn a_base_is_what_its_events_came_to() {
    let mut world = World::new(5);
    world.ws.set_keep(Keep::Days(1));
    let mut dropped = 0;
    let mut all = world.log.events.clone();
    for _ in 0..6 {
        world.play_on(400);
        world.rest();
        world.people_answer();
        all.extend(world.log.events.clone());
        world.now = world.now.plus(30 * 3_600_000);
        world.human_posts.clear();
        let rooms: Vec<_> = world.ws.rooms().map(|r| r.conversation().clone()).collect();
        for conversation in rooms {
            let (key, uid) = (conversation.key, conversation.uid);
            loop {
                let asked = world.run(By::host(), queries::Droppable { conversation: uid });
                let Droppable { base, through, .. } = asked.unwrap();
                if through <= base {
                    break;
                }
                let beyond =
                    retention::Trim { conversation: uid, through: through.next(), erased: None };
                assert!(world.run(By::host(), beyond).is_err(), "no more than may go");
                // Not always as far as it may.
                let some = Seq(base.0 + 1 + world.dice(through.0 - base.0));
                let trim = |erased| retention::Trim { conversation: uid, through: some, erased };
                let since = world.run(By::host(), trim(Some(1)));
                assert_eq!(since.unwrap_err().code, Code::Conflict, "the archive has no erasure");
                world.run(By::host(), trim(Some(0))).unwrap();
                dropped += some.0 - base.0;
            }
            let Some(base) = world.log.bases.get(&key).cloned() else { continue };
            let from = all.values().filter(|e| e.conversation == key && e.seq <= base.seq);
            let from: Vec<_> = from.cloned().collect();
            assert_eq!(LogSnapshot::moved(None, &conversation, &from), *base);
            let read = codec::read_base(base.seq, base.hash, base.at, &codec::base(&base));
            assert_eq!(read.as_ref(), Ok(&*base));
            let room = world.ws.room(key).unwrap();
            assert_eq!(room.head().base, base.seq);
            assert!(room.open().keys().all(|seq| *seq > base.seq));
            let mut again = Room::at_base((*conversation).clone(), &base);
            let left = world.log.events.values().filter(|e| e.conversation == key);
            left.for_each(|event| again.apply(event));
            assert_eq!((again.head().seq, again.head().hash), (room.head().seq, room.head().hash));
            assert_eq!((again.roster(), again.threads()), (room.roster(), room.threads()));
            assert_eq!(again.head().unattended, room.head().unattended);
        }
    }
    assert!(dropped > 500, "{dropped}");
}
