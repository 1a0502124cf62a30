-- From form 7 to form 8: columns say which moment they hold.

ALTER TABLE answers RENAME COLUMN given TO answered_at;
ALTER TABLE answers RENAME COLUMN replaced TO superseded_at;
ALTER TABLE runs RENAME COLUMN beat TO heartbeat_at;
