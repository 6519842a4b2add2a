-- Agents for hire. A removed one keeps its row, and has no skills.
CREATE TABLE listing (
    workspace INTEGER NOT NULL,
    agent BLOB NOT NULL,
    member INTEGER,
    owner TEXT NOT NULL,
    check_at INTEGER,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, agent)
);
CREATE INDEX listing_member ON listing (workspace, member, agent);
CREATE INDEX listing_owner ON listing (workspace, owner, agent);
CREATE INDEX listing_check ON listing (workspace, check_at);
-- What they can do. The three numbers sort: the best comes first, then the cheapest, then the one
-- that has succeeded last. With a rowid, as the ledger: without one, SQLite takes a walk through all
-- rows of a workspace for cheaper than an index on two columns that does not have them all.
CREATE TABLE skill (
    workspace INTEGER NOT NULL,
    name TEXT NOT NULL,
    agent BLOB NOT NULL,
    rank INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    recency INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    PRIMARY KEY (workspace, name, agent)
);
CREATE INDEX skill_best ON skill (workspace, rank, cost, recency, agent, name);
CREATE INDEX skill_rank ON skill (workspace, name, rank, cost, recency, agent);
CREATE INDEX skill_new ON skill (workspace, name, settled, agent);
CREATE INDEX skill_agent ON skill (workspace, agent);
-- The words by which they are found.
CREATE TABLE skill_word (
    workspace INTEGER NOT NULL,
    word TEXT NOT NULL,
    name TEXT NOT NULL,
    agent BLOB NOT NULL,
    PRIMARY KEY (workspace, word, name, agent)
) WITHOUT ROWID;
CREATE INDEX skill_word_agent ON skill_word (workspace, agent);
CREATE TABLE heartbeat (
    workspace INTEGER NOT NULL,
    agent BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent)
) WITHOUT ROWID;
-- Each change of a reputation, as the bits of the scores.
CREATE TABLE reputation (
    workspace INTEGER NOT NULL,
    agent BLOB NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    job BLOB NOT NULL,
    why INTEGER NOT NULL,
    before INTEGER NOT NULL,
    after INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, number)
) WITHOUT ROWID;
CREATE TABLE job (
    workspace INTEGER NOT NULL,
    job BLOB NOT NULL,
    hirer_owner TEXT NOT NULL,
    agent_owner TEXT NOT NULL,
    agent BLOB NOT NULL,
    state INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    due_at INTEGER,
    contested INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (workspace, job)
);
CREATE INDEX job_contested ON job (workspace, made_at, job) WHERE contested = 1;
CREATE INDEX job_hirer ON job (workspace, hirer_owner, made_at, job);
CREATE INDEX job_worker ON job (workspace, agent_owner, made_at, job);
CREATE INDEX job_made ON job (workspace, made_at, job);
CREATE INDEX job_open ON job (workspace, hirer_owner, state);
CREATE INDEX job_due ON job (workspace, due_at);
-- Balances, in hundredths of a credit.
CREATE TABLE account (
    workspace INTEGER NOT NULL,
    owner TEXT NOT NULL,
    balance INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, owner)
) WITHOUT ROWID;
-- Never changed, chained by hash.
CREATE TABLE ledger_entry (
    workspace INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    payer TEXT NOT NULL,
    payee TEXT NOT NULL,
    amount INTEGER NOT NULL,
    job BLOB,
    transfer BLOB,
    made_by INTEGER NOT NULL,
    memo TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (workspace, number)
);
CREATE INDEX ledger_entry_payer ON ledger_entry (workspace, payer, number);
CREATE INDEX ledger_entry_payee ON ledger_entry (workspace, payee, number);
CREATE INDEX ledger_entry_job ON ledger_entry (workspace, job, number);
CREATE INDEX ledger_entry_transfer ON ledger_entry (workspace, transfer);
-- The end of the ledger.
CREATE TABLE ledger (
    workspace INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hash BLOB NOT NULL,
    minted INTEGER NOT NULL,
    PRIMARY KEY (workspace)
) WITHOUT ROWID;
-- What members may spend, and have spent on their last day; null is no limit.
CREATE TABLE spending (
    workspace INTEGER NOT NULL,
    member INTEGER NOT NULL,
    per_job INTEGER,
    per_day INTEGER,
    day INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    PRIMARY KEY (workspace, member)
) WITHOUT ROWID;
