-- What sessions say of themselves besides what the first version kept. A session without a row has
-- said nothing of this.
CREATE TABLE registration (
    workspace INTEGER NOT NULL,
    session INTEGER NOT NULL,
    runner INTEGER NOT NULL,
    folder TEXT,
    resume_id TEXT,
    status INTEGER NOT NULL,
    proof INTEGER NOT NULL,
    PRIMARY KEY (workspace, session)
) WITHOUT ROWID;
-- The jobs of waking sleeping agents: the open ones, and the newest that ended.
CREATE TABLE wake (
    workspace INTEGER NOT NULL,
    uid BLOB NOT NULL,
    session INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, uid)
) WITHOUT ROWID;
CREATE INDEX wake_session ON wake (workspace, session);
