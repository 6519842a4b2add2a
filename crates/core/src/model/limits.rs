//! Every limit in one place, with its reason.

/// A turn is redelivered and escalated against this (design section 5, "Deadlines").
pub const DEADLINE_MS: u32 = 300_000;
/// From this hop on, an agent's message obliges nobody (design section 5, "Cause and hop").
pub const HOP_NO_OBLIGATION: u8 = 6;
/// At this hop an agent's message is told to nobody and a person is told.
pub const HOP_END: u8 = 12;
/// Longest message text in bytes: a page of a book is about 3 KiB, a long paste 50.
pub const TEXT_BYTES: usize = 128 * 1024;
/// Longest metadata, as canonical JSON, in bytes.
pub const METADATA_BYTES: usize = 64 * 1024;
/// Longest handle, role name or member id in bytes.
pub const HANDLE_BYTES: usize = 64;
/// Longest title or display name in bytes.
pub const TITLE_BYTES: usize = 256;
/// Messages one turn may say (design section 5, "One holder, one fence").
pub const MESSAGES_PER_TURN: u8 = 5;
/// Time within which an offered delivery is accepted before it is offered again.
pub const ACK_TIMEOUT_MS: i64 = 10_000;
/// Offers without an answer before a delivery waits for the next connection.
pub const OFFERS_PER_CONNECTION: u16 = 5;
/// Clocks are trimmed all the time, and those of hosts on one database are never quite the same: what is later than
/// now by no more than this is of now.
pub const CLOCK_SKEW_MS: i64 = 1_000;
/// Clocks of two machines differ: a token is honoured this long after its end, and this long before it was made.
pub const TOKEN_SKEW_MS: i64 = 5_000;
/// An accepted role knock or claim lives this long without activity (design section 5, "Claims").
pub const CLAIM_TTL_MS: i64 = 90_000;
/// A turn is capped at this however lively it is (design section 5).
pub const TURN_CAP_MS: i64 = 30 * 60_000;
/// What an agent says within this after its answer belongs to the same turn (design section 5, "One holder,
/// one fence": quiet).
pub const TURN_QUIET_MS: i64 = 60_000;
/// A session that has been gone this long loses its accepted work (design section 5).
pub const SESSION_GONE_MS: i64 = 60_000;
/// Redelivery of an unanswered obligation, from the event's own time (design section 5, "Deadlines").
pub const REDELIVER_MS: [i64; 2] = [60_000, 120_000];
/// A digest of a followed channel comes this long after its first message, unless set otherwise.
pub const DIGEST_MS: i64 = 15 * 60_000;
/// Events of a followed channel that are counted again after a restart; a digest has no more.
pub const DIGEST_EVENTS: u64 = 10_000;
/// Longest text that a command may make of a digest, in bytes.
pub const DIGEST_TEXT_BYTES: usize = 16 * 1024;
/// How long a person has to decide what waits for one: a working day away, and back.
pub const APPROVAL_MS: i64 = 24 * 3_600_000;
/// Private places in which an agent was told something, of which each is looked at before it writes elsewhere: more
/// than an agent works in. Whoever was told in more of them is held.
pub const TOLD_IN_PRIVATE: usize = 256;
/// Sessions of an agent, the newest, that may come back after a restart of the host: more than it connects at once.
pub const SESSIONS_BACK: usize = 16;
/// How long what an agent took up in private counts where it has no session that could end: as long as an MCP session
/// may be idle.
pub const TOLD_APART_MS: i64 = 30 * 60_000;
/// Requests of one agent that wait for a person at once: each is a message kept, and a line to be read.
pub const APPROVALS_EACH: usize = 100;
/// What is owed is put off at most this far: longer is not an answer to come, but none.
pub const DEFER_MS: i64 = 7 * 24 * 3_600_000;
/// So long, where it is not said until when: a coffee, or another job of the agent's.
pub const DEFERRAL_MS: i64 = 10 * 60_000;
/// And at most so often, so that putting off comes to an end.
pub const DEFERRALS: u8 = 3;
/// Fragments of one author within this are one turn (C2A "buffered").
pub const FRAGMENT_CAP_MS: i64 = 30_000;
/// The compose window closes so long after a text that looks complete (C2A "buffered": 2 to 5 seconds).
pub const COMPOSE_QUIET_MS: i64 = 2_000;
/// And at most so long after one that does not.
pub const COMPOSE_UNFINISHED_MS: i64 = 5_000;
/// A run that has said nothing visible is begun again for what its authors add at most so often.
pub const RUN_JOINS: u8 = 2;
/// After so long without a word between them, a person's greeting to an agent is answered again.
pub const FIRST_WORDS_MS: i64 = 8 * 3_600_000;
/// An open delivery gets a row when it is this old (design section 3, "A delivery costs no row").
pub const PENDING_ROW_AFTER_MS: i64 = 1_000;
/// Members that a delivery names as told too; the rest is counted.
pub const AUDIENCE_NAMED: usize = 32;
/// Unaccepted deliveries under way to one connection (design section 4, "C2A methods").
pub const UNACKED_PER_CONNECTION: usize = 32;
/// Root messages an agent may open by itself per channel and hour (design section 5, "Turns").
pub const AUTONOMOUS_ROOTS_PER_HOUR: usize = 4;
/// How often an agent tells other agents something unasked in an hour without a person, wherever it does: one a minute.
pub const AGENT_WAKES_PER_HOUR: usize = 60;
/// Recent speakers of a conversation that a message may mean without naming them.
pub const RECENT_SPEAKERS: usize = 32;
/// Names looked up in one message; the rest address nobody.
pub const MENTIONS_PER_MESSAGE: usize = 1_000;
/// How long an idempotency key is remembered (threads spec section 7).
pub const IDEMPOTENCY_MS: i64 = 24 * 3_600_000;
/// The newest entries of a conversation's log whose keys are known however old they are by the clock: one that is set ahead
/// by days and back again makes no retry a second message. As many as are read at once when a room is loaded.
pub const IDEMPOTENCY_NEWEST: usize = 1_000;
/// Idempotency keys remembered a conversation; past it the oldest are forgotten early. A million keys are
/// about 80 MB, and ten of a second's worth of the fastest room.
pub const IDEMPOTENCY_KEYS: usize = 1_000_000;
/// Agents' messages on one line without a person, where agents are meant to work (design section 5, "Turns").
pub const NO_HUMAN_WORK: u32 = 50;
/// The same in threads of type `conversation`.
pub const NO_HUMAN_TALK: u32 = 8;
/// The largest budget that can be set: above it a loop costs more than a pause.
pub const NO_HUMAN_MOST: u32 = 10_000;
/// The longest that can be said how long a conversation is kept, in days: a century. Longer is `all`.
pub const KEEP_DAYS: u32 = 36_500;
/// Longest description or purpose of a conversation in bytes.
pub const DESCRIPTION_BYTES: usize = 4 * 1024;
/// Rows one command may touch; what is longer is a chain of commands (design section 3, "The store").
pub const ROWS_PER_COMMAND: usize = 1_000;
/// Events that one command drops: each may have a receipt, a message's state and a digest beside it.
pub const EVENTS_PER_TRIM: usize = ROWS_PER_COMMAND / 4;
/// Things a thread's work is bound to: what one person can oversee.
pub const WORK_BINDINGS: usize = 32;
/// Streams of progress of one thread; each is one line that is shown.
pub const WORK_PROGRESS: usize = 32;
/// Messages of one thread that stand in the feed: more is the thread itself.
pub const PROMOTIONS: usize = 32;
/// Threads whose work is freed of what is removed, by the command that removes it.
pub const BINDINGS_DROPPED: usize = 1_000;
/// Stimuli of one channel that may be let wait; as a rule it is fewer.
pub const STIMULI_PENDING: usize = 128;
/// Stimuli that the host has made and that wait for room in the queue of one channel: as many as a project has tasks.
pub const STIMULI_HELD: usize = PROJECT_TASKS;
/// Stimuli of one channel that are known after their end.
pub const STIMULI_ENDED: usize = 64;
/// Attempts at saying a stimulus: what fails so often fails always.
pub const STIMULUS_ATTEMPTS: u8 = 3;
/// Firings of a schedule that are known: a run goes on for half an hour at most, and a firing comes every minute.
pub const SCHEDULE_FIRINGS: usize = 32;
/// Schedules of one channel.
pub const SCHEDULES: usize = 64;
/// Shortest and longest interval of a schedule: a minute, and 31 days.
pub const SCHEDULE_EVERY_MS: (i64, i64) = (60_000, 31 * 86_400_000);
/// Files that are pinned to one channel.
pub const PINS: usize = 32;
/// Seats of one channel about which anything is set: each is repeated with every change of its settings.
pub const SEATS_SET: usize = 64;
/// Shortest and longest silence after which a thread is asked what became of it: a minute, and 31 days.
pub const IDLE_FOLLOWUP_MS: (i64, i64) = (60_000, 31 * 86_400_000);
/// Threads that are asked so at once, so that a channel in which much lies still is not flooded.
pub const IDLE_FOLLOWUPS: usize = 4;
/// After what time those are looked at that were not.
pub const IDLE_FOLLOWUP_AGAIN_MS: i64 = 60_000;
/// Longest cron expression, in bytes.
pub const CRON_BYTES: usize = 256;
/// Quiet after a subject that was opened without a person (design section 5, "Turns").
pub const STIMULUS_QUIET_MS: i64 = 300_000;
/// Longest such quiet that may be set: what is older than an hour is not counted any more.
pub const STIMULUS_QUIET_MOST_MS: i64 = 3_600_000;
/// Subjects that stimuli may be let open in an hour.
pub const STIMULUS_ROOTS_PER_HOUR: usize = 60;
/// Subjects that stimuli have opened, and that may be let be alive at once.
pub const STIMULUS_ROOTS_ACTIVE: usize = 16;
/// Longest key of an initiative, of progress or of what is bound, in bytes: a URL fits.
pub const KEY_BYTES: usize = 256;
/// Longest word on progress in bytes: it is a line, not a report.
pub const PROGRESS_BYTES: usize = 1024;
/// Longest summary of what came of a thread, and longest note of a promotion, in bytes.
pub const SUMMARY_BYTES: usize = 4 * 1024;
/// A person's newer message replaces what a run answers at most so often (design section 5, "Turns").
pub const TURN_SUPERSEDED: u8 = 2;
/// And for at most so long.
pub const TURN_SUPERSEDED_MS: i64 = 30_000;
/// A member that has spoken about a subject rests so long, unless it is addressed (design section 5, "Turns").
pub const TURN_COOLDOWN_MS: i64 = 15_000;
/// A turn that no session takes up in this time goes to the next (design section 5, "Turns").
pub const TURN_ACCEPTANCE_MS: i64 = 60_000;
/// The most that may speak at once about one subject: above it a thread is a crowd again.
pub const TURN_SPEAKERS: u8 = 8;
/// The most turns that one person's message may pay for.
pub const TURN_REPLIES: u16 = 100;
/// The longest rest that can be set: an hour.
pub const TURN_COOLDOWN_MOST_MS: i64 = 3_600_000;
/// The shortest and longest that a turn may wait to be taken up.
pub const TURN_ACCEPTANCE_WITHIN_MS: (i64, i64) = (5_000, 600_000);
/// Who owes an answer and has waited so long for the turn has it next: as long as the second reminder takes.
pub const TURN_PATIENCE_MS: i64 = 120_000;
/// Longest name of a file in bytes: what file systems take.
pub const FILE_NAME_BYTES: usize = 255;
/// Largest file in bytes: a long screenshot or a log, in one row that keeps other posts waiting for milliseconds.
pub const ASSET_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a file in one answer to an agent that reads it: as much as a message, and what a model's window can take.
pub const ASSET_SHOWN_BYTES: usize = 128 * 1024;
/// A file that no message refers to stays so long after it was brought: a message that is being written.
pub const ASSET_GRACE_MS: i64 = 24 * 3_600_000;
/// Projects of a workspace, all of them in memory.
pub const PROJECTS: usize = 256;
/// Members of a project: each is a row of the roster of each channel that mirrors them.
pub const PROJECT_MEMBERS: usize = 64;
/// Channels of a project. With its members it stays below [`ROWS_PER_COMMAND`] what one command seats.
pub const PROJECT_CHANNELS: usize = 8;
/// Tasks of a project, finished ones too.
pub const PROJECT_TASKS: usize = 512;
/// Tasks that one depends on.
pub const TASK_DEPENDENCIES: usize = 32;
/// Inboxes of a workspace, all of them in memory.
pub const INBOXES: usize = 1_000;
/// Channels that may deliver to one inbox: each is a conversation.
pub const INBOX_CHANNELS: usize = 1_000;
/// Networks from which one inbox may be delivered to.
pub const INBOX_NETWORKS: usize = 32;
/// Longest public key in bytes: one of RSA with 8,192 bits has half of it.
pub const PUBLIC_KEY_BYTES: usize = 4 * 1024;
/// Callbacks kept of one channel: as many as are under way to one connection.
pub const CALLBACKS: usize = 32;
/// What cannot be sent to a callback for so long is given up: whoever asked has gone home.
pub const GIVE_UP_MS: i64 = 6 * 3_600_000;
/// A callback is used for a day (design section 5, "Webhooks").
pub const CALLBACK_MS: i64 = 24 * 3_600_000;
/// Longest question of a search in bytes: a paragraph to look up, and no more than an address can carry.
pub const QUERY_BYTES: usize = 1_024;
/// Words and phrases of one question: each is one more list to walk.
pub const QUERY_TERMS: usize = 32;
/// Longest connection string in bytes, as it is sealed: what browsers and proxies take as an address, and half again.
pub const CONNECTION_STRING_BYTES: usize = 3 * 1024;
/// Agents that are reached by a connection string; each is a task of the host's.
pub const ENDPOINTS: usize = 10_000;
/// Longest reason in characters that a report of a failed run shows: a few lines of a log.
pub const FAILURE_CHARS: usize = 600;
/// Tokens of one member that have not ended. Who hands out more has lost count, and listing them would help nobody.
pub const TOKENS_EACH: usize = 1_000;
