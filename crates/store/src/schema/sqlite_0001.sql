-- Every key starts with the workspace, and no statement crosses it, so that the schema can be spread
-- over machines by workspace. Narrow tables that change are WITHOUT ROWID; the log never is. No foreign
-- keys on hot tables. Times are milliseconds since 1970, UTC; uids are 16 bytes; codes of enums are those
-- of chorus_core::packed.

CREATE TABLE workspace (
    workspace INTEGER NOT NULL PRIMARY KEY,
    uid BLOB NOT NULL,
    name TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    lead INTEGER,
    created_at INTEGER NOT NULL
);

CREATE TABLE member (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    handle TEXT NOT NULL,
    display_name TEXT NOT NULL,
    owner TEXT,
    identities TEXT,
    removed INTEGER NOT NULL,
    PRIMARY KEY (workspace, member),
    UNIQUE (workspace, id)
);

CREATE TABLE role (
    workspace INTEGER NOT NULL,
    role INTEGER NOT NULL,
    name TEXT NOT NULL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (workspace, role)
);

CREATE TABLE role_member (
    workspace INTEGER NOT NULL,
    role INTEGER NOT NULL,
    member INTEGER NOT NULL,
    PRIMARY KEY (workspace, role, member)
) WITHOUT ROWID;

CREATE TABLE stream (
    workspace INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    uid BLOB NOT NULL,
    name TEXT NOT NULL,
    owner INTEGER,
    PRIMARY KEY (workspace, stream)
);

CREATE TABLE session (
    workspace INTEGER NOT NULL,
    session INTEGER NOT NULL,
    uid BLOB NOT NULL,
    member INTEGER NOT NULL,
    runtime TEXT NOT NULL,
    managed INTEGER NOT NULL,
    resumable INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, session)
);

-- Revoked tokens, until they would have expired anyway.
CREATE TABLE token (
    workspace INTEGER NOT NULL,
    jti TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (workspace, jti)
) WITHOUT ROWID;

CREATE TABLE conversation (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    uid BLOB NOT NULL,
    kind INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    purpose TEXT NOT NULL,
    visibility INTEGER NOT NULL,
    stream INTEGER,
    archived INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation)
);
CREATE UNIQUE INDEX conversation_uid ON conversation (workspace, uid);

CREATE TABLE head (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    version INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation)
) WITHOUT ROWID;

CREATE TABLE roster (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    member INTEGER NOT NULL,
    participation INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, member)
) WITHOUT ROWID;
CREATE INDEX roster_member ON roster (workspace, member, conversation);

CREATE TABLE event (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    uid BLOB NOT NULL,
    at INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    session INTEGER,
    thread INTEGER,
    tseq INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    reply_to INTEGER,
    cause_conversation INTEGER,
    cause_seq INTEGER,
    hop INTEGER NOT NULL,
    told BLOB,
    idem BLOB,
    content_hash BLOB NOT NULL,
    hash BLOB NOT NULL,
    salt BLOB,
    body BLOB,
    PRIMARY KEY (workspace, conversation, seq)
);
CREATE UNIQUE INDEX event_uid ON event (workspace, uid);
CREATE INDEX event_thread ON event (workspace, conversation, thread, seq) WHERE thread IS NOT NULL;

-- A message has a row here only when it was edited, deleted or reacted to.
CREATE TABLE message (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    latest INTEGER,
    edited_at INTEGER,
    deleted_at INTEGER,
    reactions BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
) WITHOUT ROWID;

CREATE TABLE thread (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    uid BLOB NOT NULL,
    root INTEGER,
    title TEXT NOT NULL,
    kind INTEGER NOT NULL,
    status INTEGER NOT NULL,
    owner INTEGER,
    last_seq INTEGER NOT NULL,
    participants BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, thread)
);
CREATE UNIQUE INDEX thread_uid ON thread (workspace, uid);

CREATE TABLE mark (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    read INTEGER NOT NULL,
    PRIMARY KEY (workspace, member, conversation)
) WITHOUT ROWID;

-- An event somebody still owes something for, once it is a second old; and how a settled one ended.
CREATE TABLE pending (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    due_at INTEGER,
    dead INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
) WITHOUT ROWID;
CREATE INDEX pending_dead ON pending (workspace, conversation, seq) WHERE dead > 0;

CREATE TABLE receipt (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
) WITHOUT ROWID;
CREATE INDEX receipt_dead ON receipt (workspace, conversation, seq) WHERE dead > 0;
