-- What a host of many months needs.

-- For how many days a conversation's log is kept; 0 is for good, none is as the host says.
ALTER TABLE conversation ADD COLUMN keep INTEGER;

-- Where a conversation's log begins, once its beginning was dropped: the newest event that is gone, its hash, which
-- the next one's follows from, and in `packed` what had become of the conversation by then.
CREATE TABLE base (
    workspace INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, conversation)
);
