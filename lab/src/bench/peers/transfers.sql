-- What a transfer of ours keeps, in the fewest rows PostgreSQL needs for it: two balances, and an
-- entry with the key by which a retry is recognised.
CREATE TABLE account (
    owner int PRIMARY KEY,
    balance bigint NOT NULL CHECK (balance >= 0)
) WITH (fillfactor = 50);
CREATE TABLE entry (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transfer bigint NOT NULL UNIQUE,
    at timestamptz NOT NULL,
    payer int NOT NULL,
    payee int NOT NULL,
    amount bigint NOT NULL
);
INSERT INTO account SELECT owner, 100000000000 FROM generate_series(0, 99) AS owner;

CREATE FUNCTION transfer(a_transfer bigint, a_from int, a_to int, a_amount bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE a_number bigint;
BEGIN
    SELECT number INTO a_number FROM entry WHERE transfer = a_transfer;
    IF FOUND THEN RETURN a_number; END IF;
    -- In one order, so that no two wait for each other.
    PERFORM 1 FROM account WHERE owner IN (a_from, a_to) ORDER BY owner FOR UPDATE;
    UPDATE account SET balance = balance - a_amount WHERE owner = a_from AND balance >= a_amount;
    IF NOT FOUND THEN RAISE EXCEPTION 'the account has too little'; END IF;
    UPDATE account SET balance = balance + a_amount WHERE owner = a_to;
    INSERT INTO entry (transfer, at, payer, payee, amount)
        VALUES (a_transfer, now(), a_from, a_to, a_amount) RETURNING number INTO a_number;
    RETURN a_number;
END $$;
