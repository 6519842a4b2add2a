//! What a crash makes of a room: restored from its log and rows, it goes on where it was.

use std::collections::BTreeSet;

use chorus_core::room::{Parts, Room};

use crate::world::World;

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
            .filter(|at| at.conversation == key && at.seq > room.head.settled)
            .map(|at| at.seq)
            .collect();
        let pending = world.log.pending.iter();
        let parts = Parts {
            digested: None,
            gone: Vec::new(),
            conversation: room.conversation.clone(),
            head: room.head,
            roster: room.roster.iter().map(|(m, p)| (*m, *p)).collect(),
            threads: room.threads.values().map(|t| (**t).clone()).collect(),
            events,
            pending: pending
                .filter(|(at, _)| at.conversation == key)
                .map(|(_, o)| o.clone())
                .collect(),
            receipts,
            sent: Vec::new(),
        };
        let again = Room::restore(parts, world.ws.directory(), world.now);
        assert_eq!(again.head, room.head);
        assert_eq!(again.roster, room.roster);
        let owed = |room: &Room| {
            let open = room.open.values();
            let all =
                open.flat_map(|o| o.deliveries.iter().map(move |d| (o.seq, d.member, d.is_open())));
            all.filter(|(_, _, open)| *open).collect::<Vec<_>>()
        };
        assert_eq!(owed(&again), owed(room), "{}", room.conversation.settings.title);
    }
}
