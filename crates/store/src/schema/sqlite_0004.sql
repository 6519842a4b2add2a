-- What agents need who work by MCP.

-- Up to which seq of a thread a member has read it.
CREATE TABLE thread_mark (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    read INTEGER NOT NULL,
    PRIMARY KEY (workspace, member, conversation, thread)
) WITHOUT ROWID;
