-- Tokens that were handed out and have not expired, by their ids: who has which, and until when. No token is in it.
CREATE TABLE issued (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    jti TEXT NOT NULL,
    role INTEGER NOT NULL,
    session BLOB,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    kid TEXT NOT NULL,
    revoked INTEGER NOT NULL,
    PRIMARY KEY (workspace, member, jti)
) WITHOUT ROWID;

-- When all tokens that a member had were ended, so that those end too that are not in the list.
CREATE TABLE cut_off (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (workspace, member)
) WITHOUT ROWID;
