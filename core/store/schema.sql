-- The form of a Concord database, by noun. `core/store/schema.py` loads it and says how it is changed.
-- Times are UTC, ISO 8601, as text. Flags are 0 or 1. JSON is kept as text.

PRAGMA user_version = 1;

-- Settings of the workspace, by key.
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- The numbers by which browsers know items are computed with it, so that nobody can compute them elsewhere.
INSERT INTO settings (key, value) VALUES ('desk numbers', lower(hex(randomblob(16))));


-- ── What is rated ──────────────────────────────────────────────────────────────────────────────────────

-- What a conversation was about or was shown beside; many conversations share one.
CREATE TABLE contexts (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL);

-- A conversation: [[role, content, meta], …] in `messages`, and what it cost to make; `unpriced` counts calls
-- to models without a price.
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    benchmark TEXT NOT NULL,
    language TEXT NOT NULL,
    player TEXT NOT NULL,
    messages TEXT NOT NULL,
    context_id INTEGER REFERENCES contexts(id),
    meta TEXT NOT NULL DEFAULT '{}',
    turns INTEGER NOT NULL,
    reply_chars INTEGER NOT NULL,
    cut_replies INTEGER NOT NULL DEFAULT 0,
    simulated INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    created TEXT NOT NULL
);
CREATE INDEX conversations_by_player ON conversations (benchmark, language, player);
CREATE INDEX conversations_of_benchmark ON conversations (benchmark);
CREATE INDEX conversations_spent ON conversations (calls, cost, unpriced);

-- What conversations can be filtered and grouped by.
CREATE TABLE facets (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    PRIMARY KEY (name, value, conversation_id)
) WITHOUT ROWID;
CREATE INDEX facets_of_conversation ON facets (conversation_id);

-- The compressed trajectory of a conversation that has one.
CREATE TABLE trajectories (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE,
    body BLOB NOT NULL
);

-- What a benchmark is run on: tasks, scripts, scenes.
CREATE TABLE scenarios (
    id INTEGER PRIMARY KEY,
    benchmark TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'accepted', 'rejected', 'discarded')),
    source TEXT NOT NULL,
    decided_by TEXT NOT NULL DEFAULT '',
    decided TEXT,
    created TEXT NOT NULL,
    UNIQUE (benchmark, kind, key)
);
CREATE INDEX scenarios_by_state ON scenarios (benchmark, kind, state);


-- ── What is asked ──────────────────────────────────────────────────────────────────────────────────────

-- The questions of a benchmark (`scope` is its name) or of a study (“study:NAME”). `judged` is the scale of
-- judges where it is another than people's; `only_of` says of which conversations a question is asked.
CREATE TABLE criteria (
    scope TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    statement TEXT NOT NULL,
    scale TEXT NOT NULL,
    judged TEXT,
    counted INTEGER NOT NULL,
    conditional INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    required INTEGER NOT NULL DEFAULT 1,
    only_of TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (scope, name)
) WITHOUT ROWID;

-- The criterion by which judges of a benchmark see a refusal.
CREATE TABLE refusals (benchmark TEXT PRIMARY KEY, criterion TEXT NOT NULL) WITHOUT ROWID;

-- The versions of rubrics, each kept whole when it is first used; `variant` tells its judges apart.
CREATE TABLE rubrics (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    variant TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (name, version),
    UNIQUE (name, hash)
);

-- The prompts that made results, by their hash.
CREATE TABLE prompts (
    hash TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL,
    version TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;


-- ── Who rates, and who is here ─────────────────────────────────────────────────────────────────────────

-- Judges (`variant`: the version of their prompt) and people.
CREATE TABLE raters (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'judge')),
    name TEXT NOT NULL,
    variant TEXT NOT NULL DEFAULT '',
    simulated INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, name, variant)
);

-- People who were invited to rate. Of every token in these tables only the hash is kept.
CREATE TABLE annotators (
    rater_id INTEGER PRIMARY KEY REFERENCES raters(id) ON DELETE CASCADE,
    token_hash TEXT UNIQUE,
    invited TEXT NOT NULL,
    expires TEXT,
    revoked TEXT
);

-- Researchers and adjudicators with a link of their own.
CREATE TABLE members (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('researcher', 'adjudicator')),
    token_hash TEXT UNIQUE,
    invited TEXT NOT NULL,
    expires TEXT,
    revoked TEXT
);

-- Who is signed in, in which browser.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('local', 'passphrase', 'oidc', 'annotator', 'member')),
    rater_id INTEGER REFERENCES raters(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    browser TEXT NOT NULL,
    begun TEXT NOT NULL,
    used TEXT NOT NULL,
    expires TEXT NOT NULL,
    ended TEXT
);
CREATE INDEX sessions_of_rater ON sessions (rater_id) WHERE rater_id IS NOT NULL;

-- Links that sign in once.
CREATE TABLE one_time_links (
    token_hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    expires TEXT NOT NULL,
    used TEXT
) WITHOUT ROWID;

-- The last report stored of each browser at a desk: one that arrives twice is applied once.
CREATE TABLE desk_marks (
    desk TEXT NOT NULL,
    client TEXT NOT NULL,
    n INTEGER NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (desk, client)
) WITHOUT ROWID;

-- What was done that changes no study: exports, researchers let in or kept out, names removed.
CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY,
    done TEXT NOT NULL,
    by TEXT NOT NULL,
    what TEXT NOT NULL,
    study TEXT NOT NULL DEFAULT '',
    about TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT ''
);


-- ── Studies ────────────────────────────────────────────────────────────────────────────────────────────

-- What people rate, or compare (`pairs`), and by which design.
CREATE TABLE studies (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    guidelines TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL,
    per_turn INTEGER NOT NULL DEFAULT 0,
    overlap INTEGER NOT NULL DEFAULT 0,
    seed INTEGER NOT NULL DEFAULT 0,
    anonymous INTEGER NOT NULL DEFAULT 0,
    pairs INTEGER NOT NULL DEFAULT 0,
    meta TEXT NOT NULL DEFAULT '{}',
    created TEXT NOT NULL
);

-- The items of a study: a conversation, one turn of it, or two conversations side by side (the second has the
-- greater number; `stratum` is their scenario). `known` is 'gold' or 'training' for the ones beside the study's
-- own, whose answers are known.
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id),
    other_id INTEGER REFERENCES conversations(id),
    turn INTEGER,
    stratum TEXT NOT NULL DEFAULT '',
    known TEXT NOT NULL DEFAULT '' CHECK (known IN ('', 'gold', 'training')),
    CHECK (conversation_id < other_id)
);
CREATE UNIQUE INDEX items_once ON items (study_id, conversation_id, ifnull(turn, 0), known, ifnull(other_id, 0));
CREATE INDEX items_of_conversation ON items (conversation_id, other_id);
CREATE INDEX items_of_other ON items (other_id) WHERE other_id IS NOT NULL;

-- The own items of studies in which people rate.
CREATE VIEW study_units AS SELECT id, study_id, conversation_id, turn, stratum FROM items
    WHERE known = '' AND other_id IS NULL;

-- The known answers to gold and training items.
CREATE TABLE known_answers (
    item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
    criterion TEXT NOT NULL,
    answer REAL NOT NULL,
    tolerance REAL NOT NULL,
    explanation TEXT NOT NULL DEFAULT '',
    attention INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (item_id, criterion)
) WITHOUT ROWID;

-- An item on somebody's desk for a purpose (core/store/purposes.py). `opened`: when what belongs beside it was shown,
-- which locks their answers. Numbers begin far above those of items, by which a desk knows placements whose
-- answers are ratings; none is given twice.
CREATE TABLE placements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    purpose TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    position REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'skipped')),
    reason TEXT NOT NULL DEFAULT '',
    flag TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0,
    opened TEXT,
    submitted TEXT
);
INSERT INTO sqlite_sequence (name, seq) VALUES ('placements', 1099511627776);
CREATE UNIQUE INDEX placements_once ON placements
    (item_id, rater_id, CASE purpose WHEN 'extra' THEN 'first' ELSE purpose END, attempt);
CREATE INDEX placements_of_rater ON placements (rater_id, position);
CREATE INDEX placements_opened ON placements (rater_id) WHERE opened IS NOT NULL;

-- Placements whose answers are ratings; `extra`: because the ratings before it differ.
CREATE VIEW assignments AS SELECT id, item_id AS unit_id, rater_id, position, state, reason, flag, seconds,
    submitted, purpose = 'extra' AS extra FROM placements WHERE purpose IN ('first', 'extra');

-- The answers of all other placements; words alone have no value, and `shown` is the judge's score that stood
-- beside the item. A replaced one is kept.
CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    placement_id INTEGER NOT NULL REFERENCES placements(id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    value REAL,
    reason TEXT NOT NULL DEFAULT '',
    shown REAL,
    given TEXT NOT NULL,
    replaced TEXT
);
CREATE UNIQUE INDEX answers_once ON answers (placement_id, question) WHERE replaced IS NULL;

-- Decisions to leave an annotator out of a study's figures, or to take them in again.
CREATE TABLE exclusions (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    excluded INTEGER NOT NULL,
    reason TEXT NOT NULL,
    decided TEXT NOT NULL,
    by TEXT NOT NULL DEFAULT ''
);
CREATE INDEX exclusions_of_study ON exclusions (study_id);

-- Whom the last decision leaves out of which study.
CREATE VIEW left_out AS SELECT study_id, rater_id FROM exclusions e WHERE excluded AND id = (
    SELECT max(id) FROM exclusions l WHERE l.study_id = e.study_id AND l.rater_id = e.rater_id);

-- What was done about a study while it ran: closed, reopened, an item requeued, somebody's items reassigned.
CREATE TABLE study_acts (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER REFERENCES raters(id),
    what TEXT NOT NULL,
    item TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL,
    by TEXT NOT NULL,
    done TEXT NOT NULL
);
CREATE INDEX study_acts_of_study ON study_acts (study_id);

-- What was fixed before people rated a study, as text with its SHA-256; no row is changed.
CREATE TABLE registrations (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    document TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    ratings INTEGER NOT NULL,
    by TEXT NOT NULL,
    registered TEXT NOT NULL
);
CREATE INDEX registrations_of_study ON registrations (study_id);

-- A study's link for people of a crowd platform, and who came by it. When somebody's time is over, what they
-- have not begun is taken back (`returned`).
CREATE TABLE crowds (
    study_id INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE,
    token_hash TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    quota INTEGER NOT NULL,
    items INTEGER NOT NULL,
    minutes INTEGER NOT NULL,
    code TEXT NOT NULL DEFAULT '',
    closed TEXT
);
CREATE TABLE crowd_workers (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    worker TEXT NOT NULL,
    submission TEXT NOT NULL,
    task TEXT NOT NULL DEFAULT '',
    came TEXT NOT NULL,
    due TEXT NOT NULL,
    returned TEXT,
    code TEXT NOT NULL,
    clashes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (study_id, worker),
    UNIQUE (study_id, rater_id)
);
CREATE INDEX crowd_workers_of_rater ON crowd_workers (rater_id);


-- ── Pairs ──────────────────────────────────────────────────────────────────────────────────────────────

-- Studies of pairs, whose questions are the pairwise ones of a rubric's version, and their items.
CREATE VIEW pair_studies AS SELECT id, name, title, json_extract(meta, '$.benchmark') AS benchmark,
    json_extract(meta, '$.rubric') AS rubric, json_extract(meta, '$.version') AS version,
    json_extract(meta, '$.criteria') AS criteria, guidelines, seed, source, created FROM studies WHERE pairs;
CREATE VIEW study_pairs AS SELECT id, study_id, stratum AS scenario, conversation_id AS first_id,
    other_id AS second_id FROM items WHERE other_id IS NOT NULL;

-- Pairs dealt to people; `study` is the benchmark where its own question is asked. The number of a pair taken
-- back is not given again.
CREATE TABLE pairings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    study TEXT NOT NULL,
    scenario TEXT NOT NULL,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    skipped TEXT,
    flag TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0,
    answered TEXT,
    created TEXT NOT NULL
);
CREATE UNIQUE INDEX pairings_once
    ON pairings (rater_id, study, min(first_id, second_id), max(first_id, second_id));
CREATE INDEX pairings_of_benchmark ON pairings (study, rater_id, position);
CREATE INDEX pairings_of_first ON pairings (first_id);
CREATE INDEX pairings_of_second ON pairings (second_id);


-- ── Results ────────────────────────────────────────────────────────────────────────────────────────────

-- The configuration of a model that made results: what models.toml said.
CREATE TABLE model_configurations (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    nickname TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    parameters TEXT NOT NULL,
    system TEXT NOT NULL,
    replies TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX model_configurations_of_nickname ON model_configurations (nickname);

-- Which configurations made a conversation, and what their endpoints `reported`.
CREATE TABLE conversation_configurations (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    configuration_id INTEGER NOT NULL REFERENCES model_configurations(id),
    reported TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (conversation_id, configuration_id)
) WITHOUT ROWID;

-- What a judge said of a conversation, whole; its scores lie in `ratings`, unless it failed.
CREATE TABLE judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    repeat INTEGER NOT NULL DEFAULT 0,
    failure TEXT,
    raw TEXT NOT NULL DEFAULT '',
    prompt TEXT NOT NULL DEFAULT '',
    configuration_id INTEGER REFERENCES model_configurations(id),
    reported TEXT NOT NULL DEFAULT '[]',
    meta TEXT NOT NULL DEFAULT '{}',
    calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    created TEXT NOT NULL
);
CREATE INDEX judgements_of_conversation ON judgements (conversation_id);
CREATE INDEX judgements_failed ON judgements (rater_id) WHERE failure IS NOT NULL;
CREATE INDEX judgements_spent ON judgements (calls, cost, unpriced);

-- One score of a judge, or of a person in a study. `meta` is what an imported file says beside it.
CREATE TABLE ratings (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    turn INTEGER,
    criterion TEXT NOT NULL,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    repeat INTEGER NOT NULL DEFAULT 0,
    study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE,
    score REAL NOT NULL,
    explanation TEXT NOT NULL DEFAULT '',
    judgement_id INTEGER REFERENCES judgements(id) ON DELETE CASCADE,
    created TEXT NOT NULL,
    meta TEXT
);
CREATE UNIQUE INDEX ratings_once ON ratings
    (conversation_id, rater_id, criterion, ifnull(turn, 0), repeat, ifnull(study_id, 0));
CREATE INDEX ratings_of_study ON ratings (study_id) WHERE study_id IS NOT NULL;
CREATE INDEX ratings_of_judgement ON ratings (judgement_id) WHERE judgement_id IS NOT NULL;

-- People's ratings that were replaced or taken back.
CREATE TABLE revisions (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    turn INTEGER,
    criterion TEXT NOT NULL,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE,
    score REAL,
    given TEXT NOT NULL,
    replaced TEXT NOT NULL
);

-- Sums of ratings by conversation, rater and criterion, so that a mean divides once. Refreshed in the
-- transaction that changes a rating, as are `finals` and `summaries`.
CREATE TABLE scores (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    criterion TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    study_id INTEGER,
    total REAL NOT NULL,
    n INTEGER NOT NULL
);
CREATE UNIQUE INDEX scores_once ON scores (conversation_id, rater_id, criterion, repeat, ifnull(study_id, 0));
CREATE INDEX scores_of_study ON scores (study_id) WHERE study_id IS NOT NULL;

-- Each rater's final of each conversation; NULL where a part of it is missing.
CREATE TABLE finals (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    final REAL,
    PRIMARY KEY (conversation_id, rater_id)
) WITHOUT ROWID;

-- What lists of conversations are sorted and filtered by.
CREATE TABLE summaries (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE,
    final REAL,
    spread REAL,
    people REAL,
    judges INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    failed INTEGER NOT NULL
);
CREATE INDEX summaries_by_final ON summaries (final);
CREATE INDEX summaries_by_spread ON summaries (spread);
CREATE INDEX summaries_by_gap ON summaries (abs(final - people));
CREATE INDEX summaries_refused ON summaries (refused) WHERE refused > 0;
CREATE INDEX summaries_failed ON summaries (failed) WHERE failed > 0;

-- Which of two conversations a judge or a person preferred, by a question of a rubric or a benchmark's own
-- (“”); `strong`: by far.
CREATE TABLE comparisons (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    repeat INTEGER NOT NULL DEFAULT 0,
    rubric TEXT NOT NULL DEFAULT '',
    criterion TEXT NOT NULL DEFAULT '',
    verdict TEXT CHECK (verdict IN ('A', 'B', 'C')),
    strong INTEGER NOT NULL DEFAULT 0,
    explanation TEXT NOT NULL DEFAULT '',
    failure TEXT,
    raw TEXT NOT NULL DEFAULT '',
    prompt TEXT NOT NULL DEFAULT '',
    configuration_id INTEGER REFERENCES model_configurations(id),
    reported TEXT NOT NULL DEFAULT '[]',
    calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    CHECK ((verdict IS NULL) <> (failure IS NULL))
);
CREATE INDEX comparisons_of_first ON comparisons (first_id);
CREATE INDEX comparisons_of_second ON comparisons (second_id);
CREATE INDEX comparisons_of_rater ON comparisons (rater_id);
CREATE INDEX comparisons_spent ON comparisons (calls, cost, unpriced);

-- What moderation models said of texts, by the text's hash.
CREATE TABLE moderations (
    hash TEXT NOT NULL,
    model TEXT NOT NULL,
    categories TEXT NOT NULL,
    simulated INTEGER NOT NULL DEFAULT 0,
    configuration_id INTEGER REFERENCES model_configurations(id),
    reported TEXT NOT NULL DEFAULT '[]',
    created TEXT NOT NULL,
    PRIMARY KEY (hash, model)
) WITHOUT ROWID;

-- Samples of judgements to check, and what people found of judgements (`audit_id` NULL: in triage).
CREATE TABLE audits (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    benchmark TEXT NOT NULL,
    seed INTEGER NOT NULL,
    drawn_from INTEGER NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE audit_items (
    audit_id INTEGER NOT NULL REFERENCES audits(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    PRIMARY KEY (audit_id, position),
    UNIQUE (audit_id, judgement_id)
) WITHOUT ROWID;
CREATE TABLE verifications (
    id INTEGER PRIMARY KEY,
    judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    audit_id INTEGER REFERENCES audits(id) ON DELETE SET NULL,
    finding TEXT NOT NULL CHECK (finding IN ('reasonable', 'too_high', 'too_low', 'seen')),
    comment TEXT NOT NULL DEFAULT '',
    corrected REAL,
    created TEXT NOT NULL,
    UNIQUE (judgement_id, rater_id)
);
CREATE INDEX verifications_of_rater ON verifications (rater_id);


-- ── Runs ───────────────────────────────────────────────────────────────────────────────────────────────

-- A run of a plan. `max_cost` is its spending limit, `granted` what it may have spent until it asks again,
-- `elsewhere` what other runs of its plan had spent when it asked.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    benchmark TEXT NOT NULL,
    plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'stopped', 'broken')),
    message TEXT NOT NULL DEFAULT '',
    stop_asked INTEGER NOT NULL DEFAULT 0,
    pid INTEGER,
    host TEXT NOT NULL DEFAULT '',
    planned INTEGER NOT NULL DEFAULT 0,
    stored INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    max_cost REAL,
    granted REAL NOT NULL DEFAULT 0,
    elsewhere REAL NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    started TEXT NOT NULL,
    beat TEXT NOT NULL,
    ended TEXT
);

-- Which run is making which piece of work.
CREATE TABLE leases (
    work TEXT PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX leases_of_run ON leases (run_id);

-- Answered calls of work that is not finished. `beside` is what a reply says beside its text.
CREATE TABLE journal (
    work TEXT NOT NULL,
    step TEXT NOT NULL,
    asked TEXT NOT NULL,
    reply TEXT NOT NULL,
    beside TEXT NOT NULL DEFAULT '{}',
    cut INTEGER NOT NULL DEFAULT 0,
    configuration_id INTEGER REFERENCES model_configurations(id),
    model TEXT NOT NULL DEFAULT '',
    fingerprint TEXT NOT NULL DEFAULT '',
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    unpriced INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL,
    PRIMARY KEY (work, step)
) WITHOUT ROWID;

-- Work that could not be done, whose reply failed and why.
CREATE TABLE failures (
    work TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL,
    raw TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 1,
    run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL,
    benchmark TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    player TEXT NOT NULL DEFAULT '',
    facets TEXT NOT NULL DEFAULT '{}',
    created TEXT NOT NULL
) WITHOUT ROWID;

-- Batches at an endpoint, and the calls that wait in them: `batch_id` is NULL where a call had no answer and
-- is to be asked again, `kind` is set where it failed for good and no run has heard of it yet.
CREATE TABLE batches (
    id INTEGER PRIMARY KEY,
    mark TEXT NOT NULL UNIQUE,
    run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL,
    model TEXT NOT NULL,
    lines INTEGER NOT NULL,
    state TEXT NOT NULL,
    file TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX batches_open ON batches (state) WHERE state NOT IN ('collected', 'refused', 'given up');
CREATE INDEX batches_of_run ON batches (run_id);
CREATE TABLE batch_calls (
    id TEXT PRIMARY KEY,
    batch_id INTEGER REFERENCES batches(id) ON DELETE SET NULL,
    model TEXT NOT NULL,
    work TEXT NOT NULL,
    step TEXT NOT NULL,
    asked TEXT NOT NULL,
    cost REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    kind TEXT,
    message TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    raw TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX batch_calls_of_batch ON batch_calls (batch_id) WHERE batch_id IS NOT NULL;

-- What a change stored in parts has added as long as it has not ended: ids from first to last of a table, or
-- a criterion (scope, name), a benchmark's refusal, or (trajectories) conversations that had none.
CREATE TABLE unfinished (id INTEGER PRIMARY KEY, part_of TEXT NOT NULL, first NOT NULL, last NOT NULL);
