-- What a team needs from its first week on.

-- Edits and reactions of a message, which an erasure looks for; their kinds are 6 and 8.
CREATE INDEX event_about ON event (workspace, conversation, seq) WHERE kind IN (6, 8);

-- To whom undone obligations go in a conversation before they go to the workspace's lead.
ALTER TABLE conversation ADD COLUMN lead INTEGER;

-- The no-human budget: agents' messages on a line of talk since a person spoke there, or its status changed.
ALTER TABLE head ADD COLUMN unattended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE thread ADD COLUMN unattended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN agent_budget INTEGER;

UPDATE head SET unattended = (
    SELECT count(*) FROM event e
    WHERE e.workspace = head.workspace AND e.conversation = head.conversation
        AND e.thread IS NULL AND e.kind = 5 AND e.hop > 0
        AND e.seq > COALESCE((
            SELECT p.seq FROM event p
            WHERE p.workspace = head.workspace AND p.conversation = head.conversation
                AND p.thread IS NULL AND p.kind IN (5, 6) AND p.hop = 0
            ORDER BY p.seq DESC LIMIT 1
        ), 0)
);

UPDATE thread SET unattended = (
    SELECT count(*) FROM event e
    WHERE e.workspace = thread.workspace AND e.conversation = thread.conversation
        AND e.thread = thread.thread AND e.kind = 5 AND e.hop > 0
        AND e.seq > COALESCE((
            SELECT p.seq FROM event p
            WHERE p.workspace = thread.workspace AND p.conversation = thread.conversation
                AND p.thread = thread.thread AND (p.kind IN (5, 6) AND p.hop = 0 OR p.kind = 11)
            ORDER BY p.seq DESC LIMIT 1
        ), 0)
);

-- What followers were told of a stretch of a conversation's log: counts and seqs, one row for all of them.
CREATE TABLE digest (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    through INTEGER NOT NULL,
    at INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation, through)
) WITHOUT ROWID;

-- Up to where digests account for a followed conversation's log.
CREATE TABLE digested (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation)
) WITHOUT ROWID;

-- What a command made of a member's digest: a copy of words. It goes when a message of its stretch does.
CREATE TABLE digest_text (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    through INTEGER NOT NULL,
    member INTEGER NOT NULL,
    after INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (workspace, conversation, through, member)
) WITHOUT ROWID;

-- What is done beside the conversations' logs: blocks of entries, one a batch at most, chained by hash.
CREATE TABLE audit (
    workspace INTEGER NOT NULL,
    block INTEGER NOT NULL,
    at INTEGER NOT NULL,
    hash BLOB NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, block)
);

-- Who has left a conversation (thread 0) or a thread of it and keeps its seat.
CREATE TABLE gone (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    member INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, member, thread)
) WITHOUT ROWID;

-- What waits for a person, and for a day what was decided. `packed` is what is asked; where a send comes from
-- stands beside it.
CREATE TABLE approval (
    workspace INTEGER NOT NULL,
    uid BLOB NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    member INTEGER NOT NULL,
    source_conversation INTEGER,
    source_seq INTEGER,
    source_room BLOB,
    source_event BLOB,
    source_only BLOB,
    approved INTEGER,
    decided_by INTEGER,
    decided_at INTEGER,
    reason TEXT,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, uid)
) WITHOUT ROWID;
