//! Events that somebody still owes something for, as anything could have made them.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{count, decided, decision, member, seq, time};
use crate::model::claim::Claim;
use crate::model::delivery::{Before, Clock, Delivery, Open, Retry, State, Taken};
use crate::model::disposition::Disposition;
use crate::model::ids::{SessionKey, ThreadKey, Uid};

fn state() -> impl Strategy<Value = State> {
    let session = || any::<u32>().prop_map(SessionKey);
    prop_oneof![
        Just(State::Waiting),
        (session(), time()).prop_map(|(session, at)| State::Offered { session, at }),
        (session(), time(), time(), option::of(time()))
            .prop_map(|(session, at, life, gone)| State::Accepted { session, at, life, gone }),
        (select(Disposition::ALL.as_slice()), time())
            .prop_map(|(disposition, at)| State::Settled { disposition, at }),
        time().prop_map(|at| State::Dead { at }),
        time().prop_map(|at| State::Deferred { at }),
    ]
}

fn clock() -> impl Strategy<Value = Clock> {
    let set = (any::<u8>(), option::of(time()), option::of(time()), any::<i64>());
    let clock = set.prop_map(|(deferrals, until, withheld, stood_ms)| Clock {
        deferrals,
        until,
        withheld,
        stood_ms,
    });
    prop_oneof![Just(Clock::default()), clock]
}

fn delivery() -> impl Strategy<Value = Delivery> {
    let counts = (any::<u16>(), any::<u32>(), any::<u8>(), any::<u8>());
    let times = (option::of(time()), option::of(time()), option::of(time()));
    let callback = (prop_oneof![Just(0), any::<u16>()], any::<[bool; 4]>());
    let retry =
        (1u8.., time(), time()).prop_map(|(failed, until, epoch)| Retry { failed, until, epoch });
    let before = prop_oneof![
        Just(Before::default()),
        any::<[u16; 2]>().prop_map(|[fence, connection]| Before { fence, connection }),
    ];
    let taken = option::of((time(), time()).prop_map(|(at, life)| Taken { at, life }));
    let note = option::of("\\PC{0,12}".prop_map(Arc::from));
    let later = (callback, option::of(retry), before, taken, option::of(time()), note);
    (member(), decision(), state(), counts, times, clock(), later).prop_map(
        |(
            member,
            decision,
            state,
            (attempt, fence, said, reminders),
            times,
            clock,
            ((voice, [over, carried, heard, moved_on]), retry, before, taken, epoch, note),
        )| Delivery {
            voice,
            over,
            carried,
            heard,
            moved_on,
            retry,
            member,
            decision,
            state,
            attempt,
            fence,
            offered_at: times.0,
            accepted_at: times.1,
            retrieved_at: times.2,
            said,
            reminders,
            clock,
            before,
            taken,
            epoch,
            note,
        },
    )
}

pub(super) fn opened() -> impl Strategy<Value = Open> {
    let claim = (member(), any::<u32>(), time(), any::<bool>())
        .prop_map(|(holder, fence, expires, accepted)| Claim { holder, fence, expires, accepted });
    let place =
        (seq(), any::<u128>(), time(), option::of(count().prop_map(ThreadKey)), option::of(seq()));
    let owed = (decided(), vec(delivery(), 0..4), option::of(claim));
    (place, member(), any::<u8>(), owed).prop_map(
        |((seq, uid, at, thread, edit_of), author, hop, (attention, deliveries, claim))| Open {
            seq,
            uid: Uid(uid),
            at,
            thread,
            edit_of,
            author,
            hop,
            attention: Arc::new(attention),
            deliveries,
            claim,
            stored: true,
            subject: None,
        },
    )
}
