-- From form 8 to form 9: what studies kept as JSON in `meta` has columns and tables.

ALTER TABLE studies ADD COLUMN benchmark TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN rubric TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN rubric_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN rubric_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN context_fields TEXT;
ALTER TABLE studies ADD COLUMN system_prompt TEXT NOT NULL DEFAULT 'none';
ALTER TABLE studies ADD COLUMN user_title TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN model_title TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN repeat_share REAL NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN matched_facet TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN discussion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN revealed_judge TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN revealed_variant TEXT NOT NULL DEFAULT '';
UPDATE studies SET
    benchmark = coalesce(meta ->> '$.drawn.benchmark', meta ->> '$.benchmark', ''),
    rubric = ifnull(meta ->> '$.rubric.name', ''),
    rubric_version = ifnull(meta ->> '$.rubric.version', 0),
    rubric_hash = ifnull(meta ->> '$.rubric.hash', ''),
    context_fields = meta ->> '$.rubric.show',
    system_prompt = ifnull(meta ->> '$.rubric.system_prompt', 'none'),
    user_title = ifnull(meta ->> '$.speakers.user', ''),
    model_title = ifnull(meta ->> '$.speakers.assistant', ''),
    repeat_share = ifnull(meta ->> '$.repeats', 0),
    matched_facet = ifnull(meta ->> '$.match', ''),
    discussion = ifnull(meta ->> '$.discussion', 0),
    revealed_judge = ifnull(meta ->> '$.reveal.judge', ''),
    revealed_variant = ifnull(meta ->> '$.reveal.variant', '');

CREATE TABLE samples (
    study_id INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE,
    candidates INTEGER NOT NULL,
    size INTEGER NOT NULL,
    filter TEXT NOT NULL DEFAULT '{}',
    strata_facets TEXT NOT NULL DEFAULT '[]',
    allocation TEXT NOT NULL DEFAULT '',
    lowest_chance REAL,
    highest_chance REAL,
    without_studies TEXT NOT NULL DEFAULT '[]',
    draw TEXT NOT NULL DEFAULT '',
    files TEXT NOT NULL DEFAULT '[]'
);
INSERT INTO samples (study_id, candidates, size, filter, strata_facets, allocation, lowest_chance, highest_chance,
    without_studies, draw, files)
    SELECT id, meta ->> '$.drawn.candidates', ifnull(meta ->> '$.drawn.n', 0), ifnull(meta ->> '$.drawn.filter', '{}'),
    ifnull(meta ->> '$.drawn.by', '[]'), ifnull(meta ->> '$.drawn.allocation', ''), meta ->> '$.drawn.chance[0]',
    meta ->> '$.drawn.chance[1]', ifnull(meta ->> '$.drawn.not_in', '[]'), ifnull(meta ->> '$.drawn.lake.draw', ''),
    ifnull(meta ->> '$.drawn.lake.files', '[]') FROM studies WHERE meta ->> '$.drawn.candidates' IS NOT NULL;
INSERT INTO samples (study_id, candidates, size)
    SELECT t.id, t.meta ->> '$.drawn_from', (SELECT count(*) FROM items i WHERE i.study_id = t.id)
    FROM studies t WHERE t.meta ->> '$.drawn_from' IS NOT NULL;
CREATE TABLE strata (
    study_id INTEGER NOT NULL REFERENCES samples(study_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (study_id, name)
) WITHOUT ROWID;
INSERT INTO strata (study_id, position, name, size)
    SELECT m.study_id, row_number() OVER (PARTITION BY m.study_id ORDER BY s.id) - 1, s.key, s.value
    FROM samples m JOIN studies t ON t.id = m.study_id, json_each(t.meta, '$.drawn.strata') s;

CREATE TABLE study_rules (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    purpose TEXT NOT NULL CHECK (purpose IN ('extra', 'training', 'adjudicate')),
    threshold REAL NOT NULL,
    criterion TEXT NOT NULL DEFAULT '',
    attempts INTEGER,
    PRIMARY KEY (study_id, purpose)
) WITHOUT ROWID;
INSERT INTO study_rules (study_id, purpose, threshold, criterion)
    SELECT id, 'extra', meta ->> '$.extra.least', ifnull(meta ->> '$.extra.criterion', '') FROM studies
    WHERE meta ->> '$.extra.least' IS NOT NULL;
INSERT INTO study_rules (study_id, purpose, threshold, criterion)
    SELECT id, 'adjudicate', meta ->> '$.adjudication.least', ifnull(meta ->> '$.adjudication.criterion', '') FROM studies
    WHERE meta ->> '$.adjudication.least' IS NOT NULL;
INSERT INTO study_rules (study_id, purpose, threshold, attempts)
    SELECT id, 'training', meta ->> '$.training.bound', ifnull(meta ->> '$.training.attempts', 2) FROM studies
    WHERE meta ->> '$.training.bound' IS NOT NULL;
CREATE TABLE study_judges (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    variant TEXT NOT NULL,
    PRIMARY KEY (study_id, name, variant)
) WITHOUT ROWID;
INSERT OR IGNORE INTO study_judges (study_id, name, variant)
    SELECT t.id, j.value ->> 0, j.value ->> 1 FROM studies t, json_each(t.meta, '$.judges') j;

CREATE TABLE lab_divisions (
    study_id INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE,
    rubric TEXT NOT NULL,
    seed INTEGER NOT NULL
);
INSERT INTO lab_divisions (study_id, rubric, seed)
    SELECT id, meta ->> '$.lab.rubric', ifnull(meta ->> '$.lab.seed', 0) FROM studies
    WHERE meta ->> '$.lab.rubric' IS NOT NULL;
CREATE TABLE lab_parts (
    study_id INTEGER NOT NULL REFERENCES lab_divisions(study_id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    part TEXT NOT NULL CHECK (part IN ('develop', 'select', 'test')),
    PRIMARY KEY (study_id, conversation_id)
) WITHOUT ROWID;
CREATE INDEX lab_parts_of_conversation ON lab_parts (conversation_id);
INSERT INTO lab_parts (study_id, conversation_id, part)
    SELECT d.study_id, c.id, p.value FROM lab_divisions d JOIN studies t ON t.id = d.study_id,
    json_each(t.meta, '$.lab.parts') p JOIN conversations c ON c.key = p.key;
CREATE TABLE lab_variants (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    parent TEXT NOT NULL DEFAULT '',
    decided_by TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    PRIMARY KEY (study_id, variant)
) WITHOUT ROWID;
INSERT INTO lab_variants (study_id, variant, parent, decided_by, note, created)
    SELECT t.id, v.key, ifnull(v.value ->> '$.parent', ''), ifnull(v.value ->> '$.by', ''), ifnull(v.value ->> '$.note', ''),
    ifnull(v.value ->> '$.made', t.created) FROM studies t, json_each(t.meta, '$.lab.variants') v;
CREATE TABLE lab_proposals (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    request_hash TEXT NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (study_id, request_hash)
) WITHOUT ROWID;
INSERT INTO lab_proposals (study_id, request_hash, reply)
    SELECT t.id, p.key, p.value FROM studies t, json_each(t.meta, '$.lab.proposals') p;

DROP VIEW human_scores;
ALTER TABLE studies DROP COLUMN meta;
CREATE VIEW human_scores AS
    SELECT i.id AS item_id, i.study_id, r.rater_id, r.criterion, r.score, r.explanation
    FROM items i JOIN ratings r ON r.conversation_id = i.conversation_id AND +r.study_id = i.study_id
        AND ifnull(r.turn, 0) = ifnull(i.turn, 0)
    WHERE i.known = '' AND i.other_id IS NULL
    UNION ALL
    SELECT i.id, i.study_id, +x.rater_id, x.criterion, (1.0 + x.strong) * ((x.verdict = 'A') - (x.verdict = 'B'))
        * iif(x.first_id = i.conversation_id, 1, -1), x.explanation
    FROM items i JOIN studies t ON t.id = i.study_id JOIN comparisons x
        ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN (i.conversation_id, i.other_id)
        AND x.rubric = t.rubric AND x.failure IS NULL AND ifnull(x.study_id, t.id) = t.id
    JOIN raters h ON h.id = +x.rater_id AND h.kind = 'human'
    WHERE i.known = '' AND i.other_id IS NOT NULL;
