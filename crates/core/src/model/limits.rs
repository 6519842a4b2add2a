//! Every limit in one place, with its reason.

/// Deadline of an obligation, after which it escalates (design section 5, "Deadlines").
pub const DEADLINE_MS: u32 = 300_000;
/// From this hop on, an agent's message creates no obligation (design section 5, "Cause and hop").
pub const HOP_NO_OBLIGATION: u8 = 6;
/// At this hop an agent's message notifies no agent, and a person is notified.
pub const HOP_END: u8 = 12;
/// Longest message text in bytes: a page of a book is about 3 KiB, a long paste 50.
pub const TEXT_BYTES: usize = 128 * 1024;
/// Longest metadata, as canonical JSON, in bytes.
pub const METADATA_BYTES: usize = 64 * 1024;
/// Longest handle, role name or member id in bytes.
pub const HANDLE_BYTES: usize = 64;
/// Longest title or display name in bytes.
pub const TITLE_BYTES: usize = 256;
/// Messages per turn (design section 5, "One holder, one fence").
pub const MESSAGES_PER_TURN: u8 = 5;
/// Time within which an offered delivery is accepted before it is offered again.
pub const ACK_TIMEOUT_MS: i64 = 10_000;
/// Offers without an answer before a delivery waits for the next connection.
pub const OFFERS_PER_CONNECTION: u16 = 5;
/// Clock tolerance: clocks are adjusted all the time. A time that is later than now by no more than
/// this counts as now.
pub const CLOCK_SKEW_MS: i64 = 1_000;
/// Clock tolerance between two machines for tokens: accepted this long after expiry and this long
/// before issue.
pub const TOKEN_SKEW_MS: i64 = 5_000;
/// That a token was ended is remembered so long beyond its expiry: longer than a session lives that
/// stems from it, and in case the clock is ahead.
pub const ENDED_TOKEN_MS: i64 = 60 * 24 * 3_600_000;
/// An accepted role knock or claim lives this long without activity (design section 5, "Claims").
pub const CLAIM_TTL_MS: i64 = 90_000;
/// Longest turn, even if it is active (design section 5).
pub const TURN_CAP_MS: i64 = 30 * 60_000;
/// An agent's message within this time after its answer belongs to the same turn (design section 5,
/// "One holder, one fence": quiet).
pub const TURN_QUIET_MS: i64 = 60_000;
/// A session that has been disconnected this long loses its accepted work (design section 5).
pub const SESSION_GONE_MS: i64 = 60_000;
/// Redelivery of an unanswered obligation, from the event's own time (design section 5,
/// "Deadlines").
pub const REDELIVER_MS: [i64; 2] = [60_000, 120_000];
/// Default interval from a followed channel's first message to its digest.
pub const DIGEST_MS: i64 = 15 * 60_000;
/// Events of a followed channel that are counted again after a restart; a digest covers at most
/// this many.
pub const DIGEST_EVENTS: u64 = 10_000;
/// Longest text that a command may write for a digest, in bytes.
pub const DIGEST_TEXT_BYTES: usize = 16 * 1024;
/// How long a person has for a decision: one working day, allowing for an absence.
pub const APPROVAL_MS: i64 = 24 * 3_600_000;
/// Private places that are tracked per agent and checked before it writes elsewhere: more than an
/// agent works in. Messages of an agent that was told in more places are held.
pub const TOLD_IN_PRIVATE: usize = 256;
/// Newest sessions of an agent that may reconnect after a restart of the host: more than it
/// connects at once.
pub const SESSIONS_BACK: usize = 16;
/// How long a private read counts for an agent without a session that could end: as long as an MCP
/// session may be idle.
pub const TOLD_APART_MS: i64 = 30 * 60_000;
/// Pending approvals of one agent: each is a stored message and one more line to read.
pub const APPROVALS_EACH: usize = 100;
/// Longest deferral: anything longer amounts to no answer.
pub const DEFER_MS: i64 = 7 * 24 * 3_600_000;
/// Default deferral: a coffee break, or another task of the agent's.
pub const DEFERRAL_MS: i64 = 10 * 60_000;
/// Deferrals of one delivery, so that deferring ends.
pub const DEFERRALS: u8 = 3;
/// Fragments of one author within this are one turn (C2A "buffered").
pub const FRAGMENT_CAP_MS: i64 = 30_000;
/// The compose window closes this long after a text that looks complete (C2A "buffered": 2 to 5
/// seconds).
pub const COMPOSE_QUIET_MS: i64 = 2_000;
/// The compose window closes at most this long after a text that does not look complete.
pub const COMPOSE_UNFINISHED_MS: i64 = 5_000;
/// How often a run that has said nothing visible is restarted because its authors add something.
pub const RUN_JOINS: u8 = 2;
/// After this long without a message between them, a person's greeting to an agent is answered
/// again.
pub const FIRST_WORDS_MS: i64 = 8 * 3_600_000;
/// An open delivery gets a row when it is this old (design section 3, "A delivery costs no row").
pub const PENDING_ROW_AFTER_MS: i64 = 1_000;
/// How often the open deliveries of a conversation that are old enough get their rows.
pub const PENDING_ROWS_EVERY_MS: i64 = 1_000;
/// Co-recipients that a delivery names; the rest are counted.
pub const AUDIENCE_NAMED: usize = 32;
/// Unaccepted offers in flight to one connection (design section 4, "C2A methods").
pub const UNACKED_PER_CONNECTION: usize = 32;
/// Root messages an agent may open unprompted per channel and hour (design section 5, "Turns").
pub const AUTONOMOUS_ROOTS_PER_HOUR: usize = 4;
/// How often an agent may notify other agents unprompted in an hour without a person, across all
/// conversations: one a minute.
pub const AGENT_WAKES_PER_HOUR: usize = 60;
/// Recent speakers of a conversation who may be meant without being named.
pub const RECENT_SPEAKERS: usize = 32;
/// Names looked up in one message; any further names address nobody.
pub const MENTIONS_PER_MESSAGE: usize = 1_000;
/// How long an idempotency key is remembered (threads spec section 7).
pub const IDEMPOTENCY_MS: i64 = 24 * 3_600_000;
/// The newest entries of a conversation's log whose keys are known whatever their time, so that a
/// clock that is set ahead by days and back again cannot turn a retry into a second message. This
/// many are read at once when a room is loaded.
pub const IDEMPOTENCY_NEWEST: usize = 1_000;
/// Idempotency keys remembered per conversation; beyond it the oldest are forgotten early. A
/// million keys take about 80 MB, which lasts the fastest room for ten seconds.
pub const IDEMPOTENCY_KEYS: usize = 1_000_000;
/// Agents' messages in one timeline without a person, where agents are meant to work (design
/// section 5, "Turns").
pub const NO_HUMAN_WORK: u32 = 50;
/// The same in threads of type `conversation`.
pub const NO_HUMAN_TALK: u32 = 8;
/// Largest configurable budget: above it a loop costs more than a pause.
pub const NO_HUMAN_MOST: u32 = 10_000;
/// Longest configurable retention period in days: a century. Longer is `all`.
pub const KEEP_DAYS: u32 = 36_500;
/// Longest description or purpose of a conversation in bytes.
pub const DESCRIPTION_BYTES: usize = 4 * 1024;
/// Rows that one command may touch; longer work is a chain of commands (design section 3, "The
/// store").
pub const ROWS_PER_COMMAND: usize = 1_000;
/// Events that one command drops: each may have a receipt, a message state and a digest.
pub const EVENTS_PER_TRIM: usize = ROWS_PER_COMMAND / 4;
/// Bindings of a thread's work: as many as a person can oversee.
pub const WORK_BINDINGS: usize = 32;
/// Progress streams of one thread; each is shown as one line.
pub const WORK_PROGRESS: usize = 32;
/// Promoted messages of one thread: with more, the reader should open the thread.
pub const PROMOTIONS: usize = 32;
/// Threads that a removal unbinds in the same command.
pub const BINDINGS_DROPPED: usize = 1_000;
/// Largest configurable number of waiting stimuli in one channel; the default is lower.
pub const STIMULI_PENDING: usize = 128;
/// Stimuli made by the host that wait for room in one channel's queue: as many as a project has
/// tasks.
pub const STIMULI_HELD: usize = PROJECT_TASKS;
/// Ended stimuli that one channel remembers.
pub const STIMULI_ENDED: usize = 64;
/// Attempts to dispatch a stimulus: one that fails this often will always fail.
pub const STIMULUS_ATTEMPTS: u8 = 3;
/// Firings that a schedule remembers: a run takes half an hour at most, and a firing comes at most
/// every minute.
pub const SCHEDULE_FIRINGS: usize = 32;
/// Schedules of one channel.
pub const SCHEDULES: usize = 64;
/// Shortest and longest interval of a schedule: a minute, and 31 days.
pub const SCHEDULE_EVERY_MS: (i64, i64) = (60_000, 31 * 86_400_000);
/// Files pinned to one channel.
pub const PINS: usize = 32;
/// Members of one channel with membership settings: all are repeated with every change of its
/// settings.
pub const SEATS_SET: usize = 64;
/// Shortest and longest silence before a follow-up on a thread: a minute, and 31 days.
pub const IDLE_FOLLOWUP_MS: (i64, i64) = (60_000, 31 * 86_400_000);
/// Follow-ups sent at once, so that a channel with many silent threads is not flooded.
pub const IDLE_FOLLOWUPS: usize = 4;
/// Delay before the remaining silent threads are checked.
pub const IDLE_FOLLOWUP_AGAIN_MS: i64 = 60_000;
/// Longest cron expression, in bytes.
pub const CRON_BYTES: usize = 256;
/// Quiet period after a subject that was opened without a person (design section 5, "Turns").
pub const STIMULUS_QUIET_MS: i64 = 300_000;
/// Longest configurable quiet period: events older than an hour are not counted any more.
pub const STIMULUS_QUIET_MOST_MS: i64 = 3_600_000;
/// Largest configurable number of subjects that stimuli open per hour.
pub const STIMULUS_ROOTS_PER_HOUR: usize = 60;
/// Largest configurable number of live subjects that stimuli have opened.
pub const STIMULUS_ROOTS_ACTIVE: usize = 16;
/// Longest key of an initiative, of progress or of a binding, in bytes: a URL fits.
pub const KEY_BYTES: usize = 256;
/// Longest progress text in bytes: a line, not a report.
pub const PROGRESS_BYTES: usize = 1024;
/// Longest summary of a thread's result, and longest note of a promotion, in bytes.
pub const SUMMARY_BYTES: usize = 4 * 1024;
/// How often a person's newer message replaces the event that a run answers (design section 5,
/// "Turns").
pub const TURN_SUPERSEDED: u8 = 2;
/// How long such replacing may go on.
pub const TURN_SUPERSEDED_MS: i64 = 30_000;
/// Rest of a member that has spoken about a subject, unless it is addressed (design section 5,
/// "Turns").
pub const TURN_COOLDOWN_MS: i64 = 15_000;
/// A turn that no session accepts in this time passes to the next member (design section 5,
/// "Turns").
pub const TURN_ACCEPTANCE_MS: i64 = 60_000;
/// Largest configurable number of simultaneous speakers about one subject: with more, a thread is a
/// crowd again.
pub const TURN_SPEAKERS: u8 = 8;
/// Largest configurable number of turns per message of a person.
pub const TURN_REPLIES: u16 = 100;
/// Longest configurable rest: an hour.
pub const TURN_COOLDOWN_MOST_MS: i64 = 3_600_000;
/// Shortest and longest configurable time for accepting a turn.
pub const TURN_ACCEPTANCE_WITHIN_MS: (i64, i64) = (5_000, 600_000);
/// A member who owes an answer and has waited this long gets the next turn: as long as the second
/// reminder takes.
pub const TURN_PATIENCE_MS: i64 = 120_000;
/// Longest file name in bytes: what file systems accept.
pub const FILE_NAME_BYTES: usize = 255;
/// Largest file in bytes: a long screenshot or a log, in one row that delays other posts by
/// milliseconds.
pub const ASSET_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a file in one answer to an agent: as much as a message, and what a model's context can
/// take.
pub const ASSET_SHOWN_BYTES: usize = 128 * 1024;
/// A file that no message refers to is kept this long after its upload, because a message may be in
/// progress.
pub const ASSET_GRACE_MS: i64 = 24 * 3_600_000;
/// Projects of a workspace; all are in memory.
pub const PROJECTS: usize = 256;
/// Members of a project: each is a row in the roster of each channel that mirrors it.
pub const PROJECT_MEMBERS: usize = 64;
/// Channels of a project. Multiplied by the number of members it stays below [`ROWS_PER_COMMAND`],
/// the limit for one command.
pub const PROJECT_CHANNELS: usize = 8;
/// Tasks of a project, including finished ones.
pub const PROJECT_TASKS: usize = 512;
/// Dependencies of one task.
pub const TASK_DEPENDENCIES: usize = 32;
/// Inboxes of a workspace; all are in memory.
pub const INBOXES: usize = 1_000;
/// Channels that may deliver to one inbox: each gets a conversation.
pub const INBOX_CHANNELS: usize = 1_000;
/// Networks that may deliver to one inbox.
pub const INBOX_NETWORKS: usize = 32;
/// Longest public key in bytes: an RSA key with 8,192 bits takes half of it.
pub const PUBLIC_KEY_BYTES: usize = 4 * 1024;
/// Callbacks kept per channel: as many as are in flight to one connection.
pub const CALLBACKS: usize = 32;
/// How long delivery to a callback is retried: after this, nobody waits for the answer any more.
pub const GIVE_UP_MS: i64 = 6 * 3_600_000;
/// A callback is valid for a day (design section 5, "Webhooks").
pub const CALLBACK_MS: i64 = 24 * 3_600_000;
/// Longest search query in bytes: a paragraph, and no more than a URL can carry.
pub const QUERY_BYTES: usize = 1_024;
/// Words and phrases of one query: each is one more list to scan.
pub const QUERY_TERMS: usize = 32;
/// Longest sealed connection string in bytes: what browsers and proxies accept as a URL, plus half.
pub const CONNECTION_STRING_BYTES: usize = 3 * 1024;
/// Agents that are reached by a connection string; each is a task in the host.
pub const ENDPOINTS: usize = 10_000;
/// Longest reason in characters that a report of a failed run shows: a few lines of a log.
pub const FAILURE_CHARS: usize = 600;
/// Tokens of one member that have not ended. With more, listing them would be of no use.
pub const TOKENS_EACH: usize = 1_000;
/// A session without a connection counts as offline this long after its last report: three missed
/// heartbeats.
pub const HEARTBEAT_STALE_MS: i64 = 90_000;
/// Longest id that a runtime has for its session, in bytes: UUIDs and file names fit.
pub const SESSION_NAME_BYTES: usize = 200;
/// Sessions of one member that report themselves on a day: each is a row that stays.
pub const SESSIONS_HEARD: usize = 64;
/// Longest path of a session's folder in bytes: what Linux accepts.
pub const FOLDER_BYTES: usize = 4096;
/// A wake whose runner has not reported for this long is taken back (design section 5, "Wake").
pub const WAKE_LEASE_MS: i64 = 45_000;
/// How long a wake waits for a runner that is connected and reports, before it is given up: a minute
/// less than an obligation has by default, so that the reason is known when that is overdue.
pub const WAKE_RUNNER_MS: i64 = 240_000;
/// How long a person who is typing defers a wake (threads spec section 3.8).
pub const WAKE_DEFER_MS: i64 = 60_000;
/// When a wake that a person's typing stopped is tried again.
pub const WAKE_AGAIN_MS: i64 = 60_000;
/// Wakes a minute of one agent about one thread (design section 5, "Wake").
pub const WAKES_PER_MINUTE: usize = 10;
/// Failures of a lane within [`WAKE_FAILURES_MS`] after which it is skipped.
pub const WAKE_FAILURES: usize = 3;
/// The time in which the failures of a lane count (design section 5, "Wake").
pub const WAKE_FAILURES_MS: i64 = 15 * 60_000;
/// Turns of one wake that end without progress, after which it is given up.
pub const WAKE_NO_PROGRESS: u8 = 3;
/// Shortest time between two notifications of one wake about further mail: a busy channel must not
/// flood a running turn.
pub const WAKE_MAIL_MS: i64 = 5_000;
/// Attempts that a wake keeps, the newest.
pub const WAKE_ATTEMPTS: usize = 32;
/// Threads that one wake names; more are found by reading the inbox.
pub const WAKE_THREADS: usize = 32;
/// Longest prompt of a wake in bytes: several are typed into a terminal.
pub const WAKE_PROMPT_BYTES: usize = 8 * 1024;
/// Longest summary that a new session is given, in bytes.
pub const WAKE_SUMMARY_BYTES: usize = 8 * 1024;
/// Longest text of a caller in a wake's prompt, in bytes: half of it, so that what is to be read
/// always fits.
pub const WAKE_ASKED_BYTES: usize = 4 * 1024;
/// Longest last lines of a program that a report carries, in bytes: two screens.
pub const WAKE_LINES_BYTES: usize = 4 * 1024;
/// Longest reason or evidence of a report in bytes.
pub const WAKE_WHY_BYTES: usize = 1024;
/// Ended wakes that a workspace keeps.
pub const WAKES_ENDED: usize = 100;
/// An agent that can be hired is offline after three missed heartbeats of 30 s (design section 5,
/// "Credits").
pub const AGENT_OFFLINE_MS: i64 = 90_000;
/// Longest URL of a job's endpoint or callback in bytes.
pub const JOB_URL_BYTES: usize = 2_048;
/// Skills of one agent: more than anybody offers, and few enough to be written at once.
pub const SKILLS: usize = 64;
/// Longest name of a skill in bytes: it is one segment of a URL.
pub const SKILL_NAME_BYTES: usize = 64;
/// Longest description of a skill in bytes: a long paragraph.
pub const SKILL_TEXT_BYTES: usize = 2_048;
/// Longest schema of a skill, as canonical JSON, in bytes.
pub const SCHEMA_BYTES: usize = 32 * 1024;
/// Longest input or output of a job, as canonical JSON, in bytes: ten pages of a book and more.
/// Larger things are files, to which a job can refer.
pub const JOB_DATA_BYTES: usize = 256 * 1024;
/// Longest reason, memo or note of a job or a transfer in bytes.
pub const JOB_NOTE_BYTES: usize = 1_024;
/// How often a verified endpoint is challenged again.
pub const ENDPOINT_CHECK_MS: i64 = 3_600_000;
/// How soon one is challenged again that did not answer; twice as long after each time.
pub const ENDPOINT_RECHECK_MS: i64 = 30_000;
/// Default time from a job's request to its result.
pub const JOB_TIMEOUT_MS: i64 = 10 * 60_000;
/// Bounds of that time: a second is shorter than a model takes to start, a week is a project.
pub const JOB_TIMEOUTS_MS: [i64; 2] = [1_000, 7 * 24 * 3_600_000];
/// Default time in which an evaluator decides. Without a decision the result counts as accepted.
pub const JOB_EVALUATION_MS: i64 = 24 * 3_600_000;
/// Bounds of that time.
pub const JOB_EVALUATIONS_MS: [i64; 2] = [1_000, 7 * 24 * 3_600_000];
/// How long after a job was completed its hirer may contest it.
pub const JOB_DISPUTE_MS: i64 = 3 * 24 * 3_600_000;
/// A post of a job of which nothing was heard for this long is made again, under the same key: the
/// host that made it may have ended. Posts time out sooner, unless the settings say otherwise.
pub const JOB_SEND_LEASE_MS: i64 = 40_000;
/// The first wait between two posts of a job; each is twice as long as the one before.
pub const JOB_RETRY_MS: i64 = 1_000;
/// The longest wait between two posts.
pub const JOB_RETRY_MOST_MS: i64 = 5 * 60_000;
/// How long a job whose time is over waits at a time for an answer that came before to be taken.
pub const JOB_ANSWER_MS: i64 = 1_000;
/// Posts of one result to a hirer's callback.
pub const JOB_NOTICES: u16 = 12;
/// Jobs under way that one owner has asked for.
pub const JOBS_OPEN: u64 = 1_000;
/// Due jobs that are handled in one transaction.
pub const JOBS_DUE: usize = 64;

/// The bounds of an interval in milliseconds, and what they are: `60000 (a minute) to 86400000 (a day)`.
pub fn spans(least: i64, most: i64) -> String {
    let span = |ms: i64| {
        let (count, unit) = match ms {
            ms if ms % 86_400_000 == 0 => (ms / 86_400_000, "day"),
            ms if ms % 3_600_000 == 0 => (ms / 3_600_000, "hour"),
            ms if ms % 60_000 == 0 => (ms / 60_000, "minute"),
            ms => (ms / 1_000, "second"),
        };
        match (count, unit) {
            (1, "hour") => format!("{ms} (an hour)"),
            (1, unit) => format!("{ms} (a {unit})"),
            (count, unit) => format!("{ms} ({count} {unit}s)"),
        }
    };
    format!("{} to {}", span(least), span(most))
}
