-- What rooms need in which agents discuss.

-- How the work of a thread stands, packed; none where nothing was said of it.
ALTER TABLE thread ADD COLUMN work BLOB;
CREATE INDEX thread_root ON thread (workspace, conversation, root) WHERE root IS NOT NULL;

-- What is said of the work of threads, which a host that comes back compares it with; the kinds are 15 and 16.
CREATE INDEX event_work ON event (workspace, conversation, thread, seq) WHERE kind IN (15, 16);

-- Settings of a conversation that have no column of their own, packed.
ALTER TABLE conversation ADD COLUMN settings BLOB;

-- Who may speak about a subject of a channel now, while anybody does or waits to.
CREATE TABLE public_turn (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, subject)
) WITHOUT ROWID;

-- Files that messages refer to. Their bytes are kept once, by their SHA-256.
CREATE TABLE asset (
    workspace INTEGER NOT NULL,
    uid BLOB NOT NULL,
    hash BLOB NOT NULL,
    name TEXT NOT NULL,
    media INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    member INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (workspace, uid)
) WITHOUT ROWID;
CREATE INDEX asset_hash ON asset (workspace, hash, member);

CREATE TABLE blob (
    workspace INTEGER NOT NULL,
    hash BLOB NOT NULL,
    data BLOB NOT NULL,
    thumbnail BLOB,
    PRIMARY KEY (workspace, hash)
);

-- Which message refers to which file: made from the log.
CREATE TABLE asset_ref (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    asset BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, seq, asset)
) WITHOUT ROWID;
CREATE INDEX asset_ref_asset ON asset_ref (workspace, asset);

-- What waits in a channel's queue to be said, and what ended there lately. The code of its state stands in it too.
CREATE TABLE stimulus (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    uid BLOB NOT NULL,
    state INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, uid)
) WITHOUT ROWID;

-- Projects with their members and linked channels, packed, and their tasks. They are part of the directory.
CREATE TABLE project (
    workspace INTEGER NOT NULL,
    uid BLOB NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, uid)
) WITHOUT ROWID;

CREATE TABLE project_task (
    workspace INTEGER NOT NULL,
    project BLOB NOT NULL,
    uid BLOB NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, project, uid)
) WITHOUT ROWID;

-- What a channel is asked again and again. When it is due stands in it too; 0 is never.
CREATE TABLE schedule (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    uid BLOB NOT NULL,
    due INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, uid)
) WITHOUT ROWID;
