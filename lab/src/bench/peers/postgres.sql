-- What a post of ours keeps, in the fewest rows PostgreSQL needs for it: the room's head, the event with
-- whom it is for, and the key by which a retry is recognised.
CREATE TABLE head (room int PRIMARY KEY, seq bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
CREATE TABLE event (
    room int, seq bigint, author int, at timestamptz NOT NULL, told bytea, body text,
    PRIMARY KEY (room, seq)
);
CREATE TABLE known (key bigint PRIMARY KEY, room int NOT NULL, seq bigint NOT NULL);
CREATE TABLE delivery (room int, seq bigint, member int, state smallint, PRIMARY KEY (room, seq, member));
INSERT INTO head (room) SELECT generate_series(1, 100);

CREATE FUNCTION post(a_room int, a_author int, a_key bigint, a_body text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE a_seq bigint;
BEGIN
    SELECT seq INTO a_seq FROM known WHERE key = a_key;
    IF FOUND THEN RETURN a_seq; END IF;
    UPDATE head SET seq = seq + 1 WHERE room = a_room RETURNING seq INTO a_seq;
    INSERT INTO event VALUES (a_room, a_seq, a_author, now(), '\x010203010203010203', a_body);
    INSERT INTO known VALUES (a_key, a_room, a_seq);
    RETURN a_seq;
END $$;
