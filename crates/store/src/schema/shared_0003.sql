-- Agents that are paused: by whom and since when.
CREATE TABLE pause (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    paused_by INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (workspace, member)
) WITHOUT ROWID;
