//! A digest, packed into one row for all its followers.

use crate::model::digest::{Digest, Part};

row!(digest, read_digest: Digest, room |it| 64 + 6 * it.members.len());

record!(Digest {
    after,
    through,
    first_at,
    at,
    messages,
    authors,
    threads,
    statuses,
    asks,
    members,
});

record!(Part { member, policy, calls });
