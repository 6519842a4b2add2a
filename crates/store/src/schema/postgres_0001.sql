-- The tables of SQLite's newest schema, column for column. Every key starts with the workspace and no statement
-- crosses it, so that the schema can be spread over machines by workspace; no sequences, and no foreign keys.
-- Times are milliseconds since 1970, UTC; uids are 16 bytes; codes of enums are those of chorus_core::packed.

-- How many hosts the database has had, which numbers them; and which keys they sign with.
CREATE TABLE host (
    workspace BIGINT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    keys BYTEA
);

-- Hosts that share the database write one after the other: whoever has locked this row. It counts what they tell
-- each other, and how often one of them came to be alone.
CREATE TABLE turn (
    workspace BIGINT NOT NULL PRIMARY KEY,
    moved BIGINT NOT NULL
) WITH (fillfactor = 50);

-- What a batch has written while other hosts were there, as `store/src/shared.rs` packs it: of which rooms and
-- which sessions (keys in 4 bytes), and the end of the audit log.
CREATE TABLE news (
    workspace BIGINT NOT NULL,
    number BIGINT NOT NULL,
    host BIGINT NOT NULL,
    directory BIGINT NOT NULL,
    rooms BYTEA NOT NULL,
    sessions BYTEA NOT NULL,
    block BIGINT,
    hash BYTEA,
    PRIMARY KEY (workspace, number)
);

-- Which host a session is connected to, while hosts share the database.
CREATE TABLE connection (
    workspace BIGINT NOT NULL,
    session BIGINT NOT NULL,
    host BIGINT NOT NULL,
    PRIMARY KEY (workspace, session)
);

CREATE TABLE workspace (
    workspace BIGINT NOT NULL PRIMARY KEY,
    uid BYTEA NOT NULL,
    name TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    lead BIGINT,
    created_at BIGINT NOT NULL
);

CREATE TABLE member (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    id TEXT NOT NULL,
    kind BIGINT NOT NULL,
    handle TEXT NOT NULL,
    display_name TEXT NOT NULL,
    owner TEXT,
    identities TEXT,
    removed BIGINT NOT NULL,
    PRIMARY KEY (workspace, member),
    UNIQUE (workspace, id)
);

CREATE TABLE role (
    workspace BIGINT NOT NULL,
    role BIGINT NOT NULL,
    name TEXT NOT NULL,
    removed BIGINT NOT NULL,
    PRIMARY KEY (workspace, role)
);

CREATE TABLE role_member (
    workspace BIGINT NOT NULL,
    role BIGINT NOT NULL,
    member BIGINT NOT NULL,
    PRIMARY KEY (workspace, role, member)
);

CREATE TABLE stream (
    workspace BIGINT NOT NULL,
    stream BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    name TEXT NOT NULL,
    owner BIGINT,
    PRIMARY KEY (workspace, stream)
);

CREATE TABLE session (
    workspace BIGINT NOT NULL,
    session BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    member BIGINT NOT NULL,
    runtime TEXT NOT NULL,
    managed BIGINT NOT NULL,
    resumable BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, session)
);

-- Revoked tokens, until they would have expired anyway.
CREATE TABLE token (
    workspace BIGINT NOT NULL,
    jti TEXT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (workspace, jti)
);

CREATE TABLE conversation (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    kind BIGINT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    purpose TEXT NOT NULL,
    visibility BIGINT NOT NULL,
    stream BIGINT,
    archived BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    lead BIGINT,
    agent_budget BIGINT,
    keep BIGINT,
    settings BYTEA,
    PRIMARY KEY (workspace, conversation)
);
CREATE UNIQUE INDEX conversation_uid ON conversation (workspace, uid);

CREATE TABLE head (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    version BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    unattended BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, conversation)
) WITH (fillfactor = 50);

CREATE TABLE roster (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    member BIGINT NOT NULL,
    participation BIGINT NOT NULL,
    PRIMARY KEY (workspace, conversation, member)
);
CREATE INDEX roster_member ON roster (workspace, member, conversation);

CREATE TABLE event (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    at BIGINT NOT NULL,
    actor BIGINT NOT NULL,
    session BIGINT,
    thread BIGINT,
    tseq BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    reply_to BIGINT,
    cause_conversation BIGINT,
    cause_seq BIGINT,
    hop BIGINT NOT NULL,
    told BYTEA,
    idem BYTEA,
    content_hash BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    salt BYTEA,
    body BYTEA,
    PRIMARY KEY (workspace, conversation, seq)
);
CREATE UNIQUE INDEX event_uid ON event (workspace, uid);
CREATE INDEX event_thread ON event (workspace, conversation, thread, seq) WHERE thread IS NOT NULL;
-- Edits and reactions of a message, which an erasure looks for; their kinds are 6 and 8.
CREATE INDEX event_about ON event (workspace, conversation, seq) WHERE kind IN (6, 8);
-- What is said of the work of threads, which a host that comes back compares it with; the kinds are 15 and 16.
CREATE INDEX event_work ON event (workspace, conversation, thread, seq) WHERE kind IN (15, 16);

-- A message has a row here only when it was edited, deleted or reacted to.
CREATE TABLE message (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    latest BIGINT,
    edited_at BIGINT,
    deleted_at BIGINT,
    reactions BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
);

CREATE TABLE thread (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    thread BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    root BIGINT,
    title TEXT NOT NULL,
    kind BIGINT NOT NULL,
    status BIGINT NOT NULL,
    owner BIGINT,
    last_seq BIGINT NOT NULL,
    participants BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    unattended BIGINT NOT NULL DEFAULT 0,
    work BYTEA,
    PRIMARY KEY (workspace, conversation, thread)
);
CREATE UNIQUE INDEX thread_uid ON thread (workspace, uid);
CREATE INDEX thread_root ON thread (workspace, conversation, root) WHERE root IS NOT NULL;

CREATE TABLE mark (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    read BIGINT NOT NULL,
    PRIMARY KEY (workspace, member, conversation)
);

-- Up to which seq of a thread a member has read it.
CREATE TABLE thread_mark (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    thread BIGINT NOT NULL,
    read BIGINT NOT NULL,
    PRIMARY KEY (workspace, member, conversation, thread)
);

-- An event somebody still owes something for, once it is a second old; and how a settled one ended.
CREATE TABLE pending (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    due_at BIGINT,
    dead BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
);
CREATE INDEX pending_dead ON pending (workspace, conversation, seq) WHERE dead > 0;

CREATE TABLE receipt (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    dead BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
);
CREATE INDEX receipt_dead ON receipt (workspace, conversation, seq) WHERE dead > 0;

-- What followers were told of a stretch of a conversation's log: counts and seqs, one row for all of them.
CREATE TABLE digest (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    through BIGINT NOT NULL,
    at BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, through)
);

-- Up to where digests account for a followed conversation's log.
CREATE TABLE digested (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (workspace, conversation)
);

-- What a command made of a member's digest: a copy of words. It goes when a message of its stretch does.
CREATE TABLE digest_text (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    through BIGINT NOT NULL,
    member BIGINT NOT NULL,
    after BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (workspace, conversation, through, member)
);

-- What is done beside the conversations' logs: blocks of entries, one a batch at most, chained by hash.
CREATE TABLE audit (
    workspace BIGINT NOT NULL,
    block BIGINT NOT NULL,
    at BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, block)
);

-- Who has left a conversation (thread 0) or a thread of it and keeps its seat.
CREATE TABLE gone (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    member BIGINT NOT NULL,
    thread BIGINT NOT NULL,
    PRIMARY KEY (workspace, conversation, member, thread)
);

-- What waits for a person, and for a day what was decided. `packed` is what is asked; where a send comes from
-- stands beside it.
CREATE TABLE approval (
    workspace BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    at BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    member BIGINT NOT NULL,
    source_conversation BIGINT,
    source_seq BIGINT,
    source_room BYTEA,
    source_event BYTEA,
    source_only BYTEA,
    approved BIGINT,
    decided_by BIGINT,
    decided_at BIGINT,
    reason TEXT,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, uid)
);

-- Where a conversation's log begins, once its beginning was dropped: the newest event that is gone, its hash, which
-- the next one's follows from, and in `packed` what had become of the conversation by then.
CREATE TABLE base (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    at BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation)
);

-- Who may speak about a subject of a channel now, while anybody does or waits to.
CREATE TABLE public_turn (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    subject BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, subject)
);

-- Files that messages refer to. Their bytes are kept once, by their SHA-256.
CREATE TABLE asset (
    workspace BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    name TEXT NOT NULL,
    media BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    member BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, uid)
);
CREATE INDEX asset_hash ON asset (workspace, hash, member);

CREATE TABLE blob (
    workspace BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    data BYTEA NOT NULL,
    thumbnail BYTEA,
    PRIMARY KEY (workspace, hash)
);

-- Which message refers to which file: made from the log.
CREATE TABLE asset_ref (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    asset BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, seq, asset)
);
CREATE INDEX asset_ref_asset ON asset_ref (workspace, asset);

CREATE TABLE stimulus (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    state BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, uid)
);

-- Projects with their members and linked channels, packed, and their tasks. They are part of the directory.
CREATE TABLE project (
    workspace BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, uid)
);

CREATE TABLE project_task (
    workspace BIGINT NOT NULL,
    project BYTEA NOT NULL,
    uid BYTEA NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, project, uid)
);

CREATE TABLE schedule (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    due BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation, uid)
);

CREATE TABLE endpoint (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    url TEXT NOT NULL,
    signing TEXT,
    state BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    added_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, member)
);

-- Inboxes: strings by which services elsewhere deliver to agents here. They are part of the directory.
CREATE TABLE inbox (
    workspace BIGINT NOT NULL,
    uid BYTEA NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, uid)
);

-- Conversations that are channels of services elsewhere. Whether something is still to be sent there stands in it too.
CREATE TABLE remote (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    inbox BYTEA NOT NULL,
    channel BYTEA NOT NULL,
    owed BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (workspace, conversation)
);
CREATE UNIQUE INDEX remote_channel ON remote (workspace, inbox, channel);
CREATE INDEX remote_owed ON remote (workspace, conversation) WHERE owed = 1;

-- Where the answer to an event of theirs goes, and what came with it, sealed with the host's key.
CREATE TABLE callback (
    workspace BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
);
CREATE INDEX callback_at ON callback (workspace, at);
