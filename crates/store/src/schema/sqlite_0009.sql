-- The SHA-256 of a token that was handed out, so that nobody can make it again of what the list says.
ALTER TABLE issued ADD COLUMN proof BLOB;
