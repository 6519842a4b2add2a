-- What a team needs from its first week on.

-- Edits and reactions of a message, which an erasure looks for; their kinds are 6 and 8.
CREATE INDEX event_about ON event (workspace, conversation, seq) WHERE kind IN (6, 8);

-- To whom undone obligations go in a conversation before they go to the workspace's lead.
ALTER TABLE conversation ADD COLUMN lead INTEGER;
