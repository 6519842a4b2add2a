-- Hosts that shared a database took turns by these tables, on PostgreSQL alone. A workspace has one owner now
-- (`store/src/membership`).
DROP TABLE IF EXISTS turn;
DROP TABLE IF EXISTS news;
DROP TABLE IF EXISTS connection;
DROP TABLE IF EXISTS host;
