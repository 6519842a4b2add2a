-- What agents have taken up in private, by the session, 0 where it was none. Of a conversation
-- the newest event, and of those that were for some of it alone the newest with whom all of them were for.
CREATE TABLE told (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    session INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    ephemeral INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    shown_to BLOB,
    PRIMARY KEY (workspace, member, session, conversation, ephemeral)
) WITHOUT ROWID;
