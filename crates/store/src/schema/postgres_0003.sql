-- What agents have taken up in private, by the session, 0 where it was none. Of a conversation
-- the newest event, and of those that were for some of it alone the newest with whom all of them were for.
CREATE TABLE told (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    session BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    ephemeral BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    shown_to BYTEA,
    PRIMARY KEY (workspace, member, session, conversation, ephemeral)
);
