-- Agents that are reached by a connection string. The string is a secret, and needed as it is.
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
