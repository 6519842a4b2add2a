//! A stimulus for its row.

use super::form::{Both, Present, Trailing};
use crate::model::stimulus::{Chain, Stimulus};

row!(stimulus, read_stimulus: Stimulus);

record!(Stimulus {
    uid: Present,
    kind,
    source,
    thread: Both,
    text,
    title,
    targets,
    private,
    progress_key,
    dedupe_key,
    initiative_key,
    reason,
    created_at,
    expires_at,
    salt,
    state,
    due_at,
    attempts,
    opened,
    said,
    by,
    ended_at,
    chain: Trailing,
} if |it| it.state.is_open() != it.ended_at.is_some());

record!(Chain { hop, cause: Both });
