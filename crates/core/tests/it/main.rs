//! `spec/attention.md` and `spec/channels.md`, requirement by requirement, against the pure core: a workspace with its log in
//! memory, driven by commands, with time passed in. One module for each part of the page. [`matrix`]
//! reads the default matrix as data; [`sim`] and [`turns_played`] play rooms from a seed.

#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub, reason = "a test's own house")]

mod boxed;
mod house;
mod jobs;
mod log;
mod market;
mod market_random;

mod acknowledgements;
mod answers;
mod approvals;
mod attention;
mod chains;
mod claims;
mod clues;
mod deadlines;
mod delivery;
mod digests;
mod edits;
mod ends;
mod failures;
mod fence;
mod flow;
mod heartbeats;
mod inboxes;
mod leave;
mod left_out;
mod loops;
mod matrix;
mod members;
mod moved_on;
mod obligations;
mod owed;
mod paused_agents;
mod pauses;
mod projects;
mod reactions;
mod refused;
mod reliability;
mod reports;
mod say;
mod schedules;
mod seats;
mod shown;
mod shown_acts;
mod silence;
mod sim;
mod stimuli;
mod stimuli_bounds;
mod stimuli_chain;
mod stimuli_held;
mod stimuli_set;
mod thread_work;
mod turns;
mod turns_always;
mod turns_pass;
mod turns_played;
mod versions;
mod wake_listing;
mod wake_reports;
mod wake_triggers;
mod wakes;
