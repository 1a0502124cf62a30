-- From form 2 to form 3: what was kept as JSON, as texts of the audit log or under keys of settings has tables.

CREATE TABLE known (item_id, position, answer);
INSERT INTO known SELECT i.id, g.key, g.value FROM items i, json_each(i.answers) g WHERE i.known <> '';
DROP VIEW known_answers;
ALTER TABLE items DROP COLUMN answers;
CREATE TABLE known_answers (
    item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
    criterion TEXT NOT NULL,
    answer REAL NOT NULL,
    tolerance REAL NOT NULL DEFAULT 0,
    explanation TEXT NOT NULL DEFAULT '',
    attention INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (item_id, criterion)
) WITHOUT ROWID;
INSERT OR REPLACE INTO known_answers (item_id, criterion, answer, tolerance, explanation, attention)
    SELECT item_id, answer ->> '$[0]', answer ->> '$[1]', ifnull(answer ->> '$[2]', 0), ifnull(answer ->> '$[3]', ''),
    ifnull(answer ->> '$[4]', 0) FROM known ORDER BY item_id, position;
DROP TABLE known;

DROP VIEW prompts;
DROP VIEW rubrics;
CREATE TABLE prompts (
    hash TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL,
    version TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO prompts (hash, benchmark, version, name, body)
    SELECT hash, scope, version, name, body FROM documents WHERE kind = 'prompt';
CREATE TABLE rubrics (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    variant TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    created TEXT,
    UNIQUE (name, version),
    UNIQUE (name, hash)
);
INSERT INTO rubrics (name, version, variant, hash, body, created)
    SELECT scope, version, name, hash, body, created FROM documents WHERE kind = 'rubric' ORDER BY id;
DROP TABLE documents;

CREATE TABLE import_parts (number INTEGER PRIMARY KEY, added TEXT NOT NULL);
INSERT INTO import_parts (number, added) SELECT CAST(substr(key, 6) AS INTEGER), value FROM settings
    WHERE key LIKE 'part %';
CREATE TABLE one_time_links (
    token_hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    expires TEXT NOT NULL,
    used TEXT
) WITHOUT ROWID;
INSERT INTO one_time_links (token_hash, kind, name, expires, used) SELECT substr(key, 15), value ->> 'kind',
    value ->> 'name', value ->> 'expires', value ->> 'used' FROM settings WHERE key LIKE 'one-time link %';
CREATE TABLE desk_reports (
    desk TEXT NOT NULL,
    client TEXT NOT NULL,
    event INTEGER NOT NULL,
    stored TEXT NOT NULL,
    PRIMARY KEY (desk, client)
) WITHOUT ROWID;
INSERT INTO desk_reports (desk, client, event, stored)
    SELECT substr(rtrim(key, replace(key, ' ', '')), 6, length(rtrim(key, replace(key, ' ', ''))) - 6),
    substr(key, length(rtrim(key, replace(key, ' ', ''))) + 1), CAST(value AS INTEGER), substr(value, instr(value, ' ') + 1)
    FROM settings WHERE key LIKE 'desk % %' AND key <> 'desk numbers';
DELETE FROM settings WHERE key LIKE 'part %' OR key LIKE 'one-time link %' OR key LIKE 'desk % %';

CREATE TABLE study_closings (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    closed TEXT NOT NULL,
    reopened TEXT
);
CREATE UNIQUE INDEX study_closings_in_force ON study_closings (study_id) WHERE reopened IS NULL;
INSERT OR IGNORE INTO study_closings (study_id, reason, decided_by, closed, reopened)
    SELECT t.id, e.detail, e.by, e.done, (SELECT l.done FROM audit_log l WHERE l.study = e.study
    AND l.what = 'reopened' AND l.id > e.id ORDER BY l.id LIMIT 1)
    FROM audit_log e JOIN studies t ON t.name = e.study WHERE e.what = 'closed' ORDER BY e.id;

DROP VIEW left_out;
CREATE TABLE exclusions (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    excluded TEXT NOT NULL,
    included TEXT
);
CREATE UNIQUE INDEX exclusions_in_force ON exclusions (study_id, rater_id) WHERE included IS NULL;
INSERT OR IGNORE INTO exclusions (study_id, rater_id, reason, decided_by, excluded, included)
    SELECT t.id, x.id, e.detail, e.by, e.done, (SELECT l.done FROM audit_log l WHERE l.study = e.study
    AND l.about = e.about AND l.what = 'taken in again' AND l.id > e.id ORDER BY l.id LIMIT 1)
    FROM audit_log e JOIN studies t ON t.name = e.study JOIN raters x ON x.kind = 'human' AND x.name = e.about
    WHERE e.what = 'left out' ORDER BY e.id;
CREATE VIEW excluded_raters AS SELECT study_id, rater_id FROM exclusions WHERE included IS NULL;

CREATE TABLE departures (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    departed TEXT NOT NULL,
    returned TEXT
);
CREATE UNIQUE INDEX departures_in_force ON departures (study_id, rater_id) WHERE returned IS NULL;
INSERT OR IGNORE INTO departures (study_id, rater_id, reason, decided_by, departed, returned)
    SELECT t.id, x.id, e.detail, e.by, e.done, (SELECT l.done FROM audit_log l WHERE l.study = e.study
    AND l.about = e.about AND l.what = 'returned' AND l.id > e.id ORDER BY l.id LIMIT 1)
    FROM audit_log e JOIN studies t ON t.name = e.study JOIN raters x ON x.kind = 'human' AND x.name = e.about
    WHERE e.what = 'reassigned' ORDER BY e.id;

CREATE TABLE training_results (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    attempt INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('passed', 'failed', 'admitted')),
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided TEXT NOT NULL
);
INSERT INTO training_results (study_id, rater_id, attempt, outcome, reason, decided_by, decided)
    SELECT t.id, x.id, iif(e.what = 'admitted', NULL, CAST(substr(e.detail, 9) AS INTEGER)), e.what, e.detail, e.by, e.done
    FROM audit_log e JOIN studies t ON t.name = e.study JOIN raters x ON x.kind = 'human' AND x.name = e.about
    WHERE e.what IN ('passed', 'failed', 'admitted') ORDER BY e.id;
CREATE INDEX training_results_of_rater ON training_results (study_id, rater_id);

UPDATE audit_log SET what = CASE what WHEN 'left out' THEN 'excluded' WHEN 'taken in again' THEN 'included' ELSE what END
    WHERE what IN ('left out', 'taken in again');

CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    token_hash TEXT UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('annotator', 'researcher', 'adjudicator')),
    rater_id INTEGER REFERENCES raters(id) ON DELETE CASCADE,
    name TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    expires TEXT,
    revoked TEXT,
    CHECK ((role = 'annotator') = (rater_id IS NOT NULL))
);
CREATE UNIQUE INDEX invitations_once ON invitations (ifnull(rater_id, 0), name);
INSERT INTO invitations (token_hash, role, rater_id, name, created, expires, revoked)
    SELECT token_hash, iif(opens = 'annotator', 'annotator', role), rater_id, name, made, expires, ended
    FROM links WHERE opens IN ('annotator', 'member') ORDER BY id;
CREATE TABLE crowd_links (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL UNIQUE REFERENCES studies(id) ON DELETE CASCADE,
    token_hash TEXT UNIQUE,
    platform TEXT NOT NULL,
    quota INTEGER NOT NULL,
    items INTEGER NOT NULL,
    minutes INTEGER NOT NULL,
    code TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL
);
INSERT INTO crowd_links (study_id, token_hash, platform, quota, items, minutes, code, created)
    SELECT study_id, token_hash, role, terms ->> 'quota', terms ->> 'items', terms ->> 'minutes',
    ifnull(terms ->> 'code', ''), made FROM links WHERE opens = 'crowd' ORDER BY id;
CREATE TABLE crowd_workers (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    platform TEXT NOT NULL,
    worker TEXT NOT NULL,
    submission TEXT NOT NULL,
    task TEXT NOT NULL DEFAULT '',
    code TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    reclaimed TEXT,
    UNIQUE (study_id, worker)
);
INSERT INTO crowd_workers (study_id, rater_id, platform, worker, submission, task, code, created, expires, reclaimed)
    SELECT study_id, rater_id, role, name, terms ->> 'submission', ifnull(terms ->> 'task', ''), terms ->> 'code', made,
    expires, ended FROM links WHERE opens = 'worker' ORDER BY id;
CREATE INDEX crowd_workers_of_rater ON crowd_workers (rater_id);
DROP TABLE links;
