-- Agents that are reached by a connection string. The string is sealed.
CREATE TABLE endpoint (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    url TEXT NOT NULL,
    signing TEXT,
    state INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, member)
) WITHOUT ROWID;

-- Inboxes: strings by which services elsewhere deliver to agents here. They are part of the directory.
CREATE TABLE inbox (
    workspace INTEGER NOT NULL,
    uid BLOB NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, uid)
) WITHOUT ROWID;

-- Conversations that are channels of services elsewhere. Whether something is still to be sent there stands in it too.
CREATE TABLE remote (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    inbox BLOB NOT NULL,
    channel BLOB NOT NULL,
    owed INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation)
) WITHOUT ROWID;
CREATE UNIQUE INDEX remote_channel ON remote (workspace, inbox, channel);
CREATE INDEX remote_owed ON remote (workspace, conversation) WHERE owed = 1;

-- Where the answer to an event of theirs goes, and what came with it, sealed with the host's key.
CREATE TABLE callback (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
);
CREATE INDEX callback_at ON callback (workspace, at);
