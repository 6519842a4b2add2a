-- Tokens that were handed out and have not expired, by their ids: who has which, and until when. No token is in it.
CREATE TABLE issued (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    jti TEXT NOT NULL,
    role BIGINT NOT NULL,
    session BYTEA,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    kid TEXT NOT NULL,
    revoked BIGINT NOT NULL,
    PRIMARY KEY (workspace, member, jti)
);

-- When all tokens that a member had were ended, so that those end too that are not in the list.
CREATE TABLE cut_off (
    workspace BIGINT NOT NULL,
    member BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, member)
);
