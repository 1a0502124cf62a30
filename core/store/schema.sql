-- The form of a Concord database, by noun. `core/store/schema.py` loads it and says how it is changed.
-- Times are UTC, ISO 8601, as text. Flags are 0 or 1. JSON is kept as text.

PRAGMA user_version = 13;

-- What the workspace keeps by key.
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- The numbers by which browsers know items are computed with it, so that nobody can compute them elsewhere.
INSERT INTO settings (key, value) VALUES ('desk numbers', lower(hex(randomblob(16))));

-- What each part of an import that is stored in parts has added, as long as the import has not ended:
-- [[table, first id, last id], …].
CREATE TABLE import_parts (number INTEGER PRIMARY KEY, added TEXT NOT NULL);


-- ── What is rated ──────────────────────────────────────────────────────────────────────────────────────

-- What a conversation was about or was shown beside; many conversations share one.
CREATE TABLE contexts (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL);

-- A conversation: [[role, content, meta], …] in `messages`, and what it cost to make; `unpriced` counts calls
-- to models without a price. `made_by` is [[configuration, [[model, fingerprint, times], …]], …]: the models, and
-- what their endpoints reported. `trajectory` is compressed.
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
    created TEXT NOT NULL,
    made_by TEXT NOT NULL DEFAULT '[]',
    trajectory BLOB
);
CREATE INDEX conversations_by_player ON conversations (benchmark, language, player);
CREATE INDEX conversations_of_benchmark ON conversations (benchmark);
CREATE INDEX conversations_cut ON conversations (cut_replies) WHERE cut_replies > 0;

-- The images in messages: `name` is the hash of the body with its type, by which a message's meta names it.
CREATE TABLE images (name TEXT PRIMARY KEY, body BLOB NOT NULL);

-- What conversations can be filtered and grouped by.
CREATE TABLE facets (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    PRIMARY KEY (name, value, conversation_id)
) WITHOUT ROWID;
CREATE INDEX facets_of_conversation ON facets (conversation_id);

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
CREATE INDEX scenarios_discarded ON scenarios (key) WHERE state = 'discarded';


-- ── What is asked ──────────────────────────────────────────────────────────────────────────────────────

-- The questions of a benchmark (`scope` is its name) or of a study (“study:NAME”). `judged` is the scale of
-- judges where it is another than people's; `only_of` says of which conversations a question is asked, `asked_when` on
-- which answers to other questions it depends, `explain` which of its own answers need words; `refusals` is the
-- criterion by which judges of the benchmark see a refusal, the same in all rows of a scope.
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
    refusals TEXT NOT NULL DEFAULT '',
    asked_when TEXT NOT NULL DEFAULT '{}',
    explain TEXT NOT NULL DEFAULT 'null',
    PRIMARY KEY (scope, name)
) WITHOUT ROWID;

-- The criterion of refusals of each benchmark that has one.
CREATE VIEW refusals AS SELECT DISTINCT scope AS benchmark, refusals AS criterion FROM criteria WHERE refusals <> '';

-- The prompts that made results, each kept whole when it is first used, and never changed.
CREATE TABLE prompts (
    hash TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL,
    version TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL
) WITHOUT ROWID;

-- The versions of rubrics, kept likewise; `variant` tells the judges of a version apart.
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


-- ── Who rates, and who is here ─────────────────────────────────────────────────────────────────────────

-- Judges (`variant`: the version of their prompt), people, and gold labels, which are taken for right and belong to
-- the conversation as judges' ratings do.
CREATE TABLE raters (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'judge', 'gold')),
    name TEXT NOT NULL,
    variant TEXT NOT NULL DEFAULT '',
    simulated INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, name, variant)
);

-- Links that let somebody in again and again: an annotator to their desk, a member (a researcher or an adjudicator) to
-- the workspace. Of every token in these tables only the hash is kept; none opens what another kind opens.
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

-- The link of a study by which people of a crowd platform come: at most `quota`, of whom each has `items` for so many
-- `minutes`. `code` is the completion code of all; “” where each has one of their own.
-- `failed_code` is for who misses so many attention checks (`misses`), `screen_out_code` for who fails the training.
CREATE TABLE crowd_links (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL UNIQUE REFERENCES studies(id) ON DELETE CASCADE,
    token_hash TEXT UNIQUE,
    platform TEXT NOT NULL,
    quota INTEGER NOT NULL,
    items INTEGER NOT NULL,
    minutes INTEGER NOT NULL,
    code TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    failed_code TEXT NOT NULL DEFAULT '',
    screen_out_code TEXT NOT NULL DEFAULT '',
    misses INTEGER NOT NULL DEFAULT 2
);

-- Languages and skills of annotators, one word each: items may go to those only who have the item's.
CREATE TABLE annotator_labels (
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    PRIMARY KEY (rater_id, label)
);

-- Who came by a crowd's link, by the platform's number of them; when their time is over (`expires`), what they have
-- not begun is taken back (`reclaimed`), of `dealt` items in all.
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
    dealt INTEGER NOT NULL DEFAULT 0,
    UNIQUE (study_id, worker)
);
CREATE INDEX crowd_workers_of_rater ON crowd_workers (rater_id);

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

-- Links that begin one session each; of the token only the hash is kept.
CREATE TABLE one_time_links (
    token_hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    expires TEXT NOT NULL,
    used TEXT
) WITHOUT ROWID;

-- The last event that each window of a browser reported from a desk, so that a report that arrives twice is applied
-- once.
CREATE TABLE desk_reports (
    desk TEXT NOT NULL,
    client TEXT NOT NULL,
    event INTEGER NOT NULL,
    stored TEXT NOT NULL,
    PRIMARY KEY (desk, client)
) WITHOUT ROWID;

-- What was done, by whom and why, about a study or about somebody: `act` is a code (core/codes.py), `target` the role
-- that somebody was let in as, what was exported, or the kind of a scenario. It is a log: nothing is decided by it.
CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY,
    done TEXT NOT NULL,
    by TEXT NOT NULL,
    act TEXT NOT NULL,
    study TEXT NOT NULL DEFAULT '',
    about TEXT NOT NULL DEFAULT '',
    item TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    target TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_log_of_study ON audit_log (study, about, act);


-- ── Studies ────────────────────────────────────────────────────────────────────────────────────────────

-- What people rate, compare (`kind` is “pairs”) or check of judgements, and by which design. `benchmark`: that of its
-- items, where they were drawn. `rubric` with version and hash: what it is rated by; “”: a benchmark's own questions.
-- `context_fields` are shown beside an item (NULL: all), `system_prompt` says to whom that is shown; `user_title` and
-- `model_title` stand above messages. `repeat_share` of everybody's items comes again; items go only to annotators with
-- the label of `matched_facet`. After the last item the scores of `revealed_judge`, and others' answers (`discussion`),
-- are shown.
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
    kind TEXT NOT NULL DEFAULT 'ratings' CHECK (kind IN ('ratings', 'pairs', 'checks')),
    created TEXT NOT NULL,
    benchmark TEXT NOT NULL DEFAULT '',
    rubric TEXT NOT NULL DEFAULT '',
    rubric_version INTEGER NOT NULL DEFAULT 0,
    rubric_hash TEXT NOT NULL DEFAULT '',
    context_fields TEXT,
    system_prompt TEXT NOT NULL DEFAULT 'none',
    user_title TEXT NOT NULL DEFAULT '',
    model_title TEXT NOT NULL DEFAULT '',
    repeat_share REAL NOT NULL DEFAULT 0,
    matched_facet TEXT NOT NULL DEFAULT '',
    discussion INTEGER NOT NULL DEFAULT 0,
    revealed_judge TEXT NOT NULL DEFAULT '',
    revealed_variant TEXT NOT NULL DEFAULT ''
);

-- How the items of a study were sampled from `candidates`: by a filter of conversations, or from `files` by a `draw`.
-- `strata_facets`: the facets whose combinations are the strata. The lowest and the highest chance of inclusion stand
-- here where chances differ. `allocation` was chosen in earlier versions.
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

-- How many conversations each stratum has from which a sample was drawn.
CREATE TABLE strata (
    study_id INTEGER NOT NULL REFERENCES samples(study_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (study_id, name)
) WITHOUT ROWID;

-- By which rule a purpose takes items. `threshold`: how far apart answers are at least (extra raters, adjudication; “”:
-- on any criterion), or the least share of hits (training, with so many attempts).
CREATE TABLE study_rules (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    purpose TEXT NOT NULL CHECK (purpose IN ('extra', 'training', 'adjudicate')),
    threshold REAL NOT NULL,
    criterion TEXT NOT NULL DEFAULT '',
    attempts INTEGER,
    PRIMARY KEY (study_id, purpose)
) WITHOUT ROWID;

-- Judges whose ratings came with a file of a study: they count in it, whatever they were asked by.
CREATE TABLE study_judges (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    variant TEXT NOT NULL,
    PRIMARY KEY (study_id, name, variant)
) WITHOUT ROWID;

-- The judge lab of a study: its rubric, the parts in which its conversations are, the versions that were made of the
-- rubric, and what models proposed, by the hash of the request, so that it is not paid twice.
CREATE TABLE lab_divisions (
    study_id INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE,
    rubric TEXT NOT NULL,
    seed INTEGER NOT NULL
);
CREATE TABLE lab_parts (
    study_id INTEGER NOT NULL REFERENCES lab_divisions(study_id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    part TEXT NOT NULL CHECK (part IN ('develop', 'select', 'test')),
    PRIMARY KEY (study_id, conversation_id)
) WITHOUT ROWID;
CREATE INDEX lab_parts_of_conversation ON lab_parts (conversation_id);
CREATE TABLE lab_variants (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    parent TEXT NOT NULL DEFAULT '',
    decided_by TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    PRIMARY KEY (study_id, variant)
) WITHOUT ROWID;
CREATE TABLE lab_proposals (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    request_hash TEXT NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (study_id, request_hash)
) WITHOUT ROWID;

-- Closings of a study; it is closed where the last one has not ended.
CREATE TABLE study_closings (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    closed TEXT NOT NULL,
    reopened TEXT
);
CREATE UNIQUE INDEX study_closings_in_force ON study_closings (study_id) WHERE reopened IS NULL;

-- Looks at the verdict on a criterion: at how many rated items it was read first, once no assigned rating was open.
CREATE TABLE looks (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    criterion TEXT NOT NULL,
    items INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    looked TEXT NOT NULL,
    UNIQUE (study_id, criterion, items)
);

-- Annotators whose answers do not count in a study's figures, until they are included again.
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
CREATE VIEW excluded_raters AS SELECT study_id, rater_id FROM exclusions WHERE included IS NULL;

-- Annotators who left a study, so that their items went to others, until they return.
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

-- What a study's training decided of an annotator: each attempt that is over, and who was admitted without passing.
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
CREATE INDEX training_results_of_rater ON training_results (study_id, rater_id);

-- The items of a study: a conversation, one turn of it, two conversations side by side (the second has the
-- greater number; `stratum` is their scenario), or a judgement of a conversation. `known` is 'gold' or 'training'
-- for the ones beside the study's own, which have known answers.
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id),
    other_id INTEGER REFERENCES conversations(id),
    turn INTEGER,
    judgement_id INTEGER REFERENCES judgements(id) ON DELETE CASCADE,
    stratum TEXT NOT NULL DEFAULT '',
    known TEXT NOT NULL DEFAULT '' CHECK (known IN ('', 'gold', 'training')),
    CHECK (conversation_id < other_id)
);
CREATE UNIQUE INDEX items_once ON items
    (study_id, conversation_id, ifnull(turn, 0), known, ifnull(other_id, 0), ifnull(judgement_id, 0));
CREATE INDEX items_of_conversation ON items (conversation_id, other_id);
CREATE INDEX items_of_other ON items (other_id) WHERE other_id IS NOT NULL;
CREATE INDEX items_of_judgement ON items (judgement_id) WHERE judgement_id IS NOT NULL;

-- The known answers to gold and training items: hit by an answer at most `tolerance` away.
CREATE TABLE known_answers (
    item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
    criterion TEXT NOT NULL,
    answer REAL NOT NULL,
    tolerance REAL NOT NULL DEFAULT 0,
    explanation TEXT NOT NULL DEFAULT '',
    attention INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (item_id, criterion)
) WITHOUT ROWID;

-- An item on somebody's desk for a purpose (core/store/purposes.py). `opened`: when what belongs beside it was shown,
-- which locks their answers. `swapped`: of a pair the second conversation is shown first. Numbers begin far above
-- those of items, by which a desk knows placements whose answers are ratings; none is given twice.
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
    swapped INTEGER NOT NULL DEFAULT 0,
    opened TEXT,
    submitted TEXT
);
INSERT INTO sqlite_sequence (name, seq) VALUES ('placements', 1099511627776);
CREATE UNIQUE INDEX placements_once ON placements
    (item_id, rater_id, CASE purpose WHEN 'extra' THEN 'first' ELSE purpose END, attempt);
CREATE INDEX placements_of_rater ON placements (rater_id, position);
CREATE INDEX placements_opened ON placements (rater_id) WHERE opened IS NOT NULL;
CREATE INDEX placements_to_settle ON placements (item_id) WHERE purpose = 'adjudicate';

-- People's answers to the items of studies: ratings, and of pairs comparisons as numbers (greater than 0: the item's
-- first conversation is better). SQLite computes it for every study unless an item or a study is named as a value;
-- a plus has it look up the few rows of a conversation, not the many of a study or a person.
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

-- What people answered at a desk; of pairs a number, greater than 0 where the item's first conversation is better.
-- Words alone have no value, and `shown` is the judge's score that stood beside the item. A superseded one is kept.
CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    placement_id INTEGER NOT NULL REFERENCES placements(id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    value REAL,
    reason TEXT NOT NULL DEFAULT '',
    shown REAL,
    answered_at TEXT NOT NULL,
    superseded_at TEXT
);
CREATE UNIQUE INDEX answers_once ON answers (placement_id, question) WHERE superseded_at IS NULL;
CREATE INDEX answers_of_placement ON answers (placement_id);


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

-- The models that made conversations, one by one.
CREATE VIEW conversation_configurations AS
    SELECT c.id AS conversation_id, json_extract(m.value, '$[0]') AS configuration_id,
           json_extract(m.value, '$[1]') AS reported FROM conversations c, json_each(c.made_by) m;

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

-- What figures are made of: one score of a judge, or of a person in a study: imported (`meta` is what the file
-- says beside it), or answered to a first or an extra placement that is submitted; `extra` ones are in means of
-- people, and in no figure of agreement. Answers of other placements are never here.
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
    extra INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    meta TEXT
);
CREATE UNIQUE INDEX ratings_once ON ratings
    (conversation_id, rater_id, criterion, ifnull(turn, 0), repeat, ifnull(study_id, 0));
CREATE INDEX ratings_of_study ON ratings (study_id) WHERE study_id IS NOT NULL;
CREATE INDEX ratings_of_judgement ON ratings (judgement_id) WHERE judgement_id IS NOT NULL;

-- Sums of ratings by conversation, rater and criterion, so that a mean divides once. Refreshed in the
-- transaction that changes a rating, as are `finals` and `summaries`.
CREATE TABLE scores (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    criterion TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    study_id INTEGER,
    extra INTEGER NOT NULL,
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
-- (“”); `strong`: by far. What people answer at a desk is here while the item is done, with its study; what a file
-- says of people has none, and counts in every study of the pair.
CREATE TABLE comparisons (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE,
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
CREATE INDEX comparisons_of_study ON comparisons (study_id) WHERE study_id IS NOT NULL;
CREATE INDEX comparisons_by_date ON comparisons (created);

-- What the calls for conversations, their judgements and their comparisons (by the first of a pair) have cost. Each row
-- keeps its own seven columns: a table apart would make storing a judgement a quarter slower.
CREATE VIEW usage AS
    SELECT 'conversation' AS work, id, id AS conversation_id, calls, input_tokens, cached_tokens, output_tokens, cost,
        unpriced, seconds FROM conversations
    UNION ALL SELECT 'judgement', id, conversation_id, calls, input_tokens, cached_tokens, output_tokens, cost, unpriced,
        seconds FROM judgements
    UNION ALL SELECT 'comparison', id, first_id, calls, input_tokens, cached_tokens, output_tokens, cost, unpriced,
        seconds FROM comparisons;

-- What pages count, kept by the triggers below, so that no page goes through what it counts: conversations of
-- players, those that a judge has scored, and what the calls for these, their judgements and comparisons (by the
-- first of a pair) have cost; conversations that a rater has scored, and pairs compared.
CREATE TABLE player_counts (
    benchmark TEXT NOT NULL,
    language TEXT NOT NULL,
    player TEXT NOT NULL,
    conversations INTEGER NOT NULL,
    judged INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (benchmark, language, player)
) WITHOUT ROWID;
CREATE TABLE rater_counts (
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    benchmark TEXT NOT NULL,
    rated INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    PRIMARY KEY (rater_id, benchmark)
) WITHOUT ROWID;

CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN
    INSERT OR IGNORE INTO player_counts (benchmark, language, player, conversations)
        VALUES (NEW.benchmark, NEW.language, NEW.player, 0);
    UPDATE player_counts SET conversations = conversations + 1, calls = calls + NEW.calls, cost = cost + NEW.cost,
        unpriced = unpriced + NEW.unpriced
        WHERE (benchmark, language, player) = (NEW.benchmark, NEW.language, NEW.player); END;
-- What is counted by a conversation's benchmark goes while the conversation is there.
CREATE TRIGGER conversation_removed BEFORE DELETE ON conversations BEGIN
    DELETE FROM scores WHERE conversation_id = OLD.id;
    DELETE FROM summaries WHERE conversation_id = OLD.id;
    DELETE FROM judgements WHERE conversation_id = OLD.id;
    DELETE FROM comparisons WHERE first_id = OLD.id OR second_id = OLD.id;
    UPDATE player_counts SET conversations = conversations - 1, calls = calls - OLD.calls, cost = cost - OLD.cost,
        unpriced = unpriced - OLD.unpriced
        WHERE (benchmark, language, player) = (OLD.benchmark, OLD.language, OLD.player);
    DELETE FROM player_counts
        WHERE (benchmark, language, player) = (OLD.benchmark, OLD.language, OLD.player) AND conversations = 0; END;
CREATE TRIGGER summary_added AFTER INSERT ON summaries WHEN NEW.judges > 0 BEGIN
    UPDATE player_counts SET judged = judged + 1 WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = NEW.conversation_id); END;
CREATE TRIGGER summary_removed AFTER DELETE ON summaries WHEN OLD.judges > 0 BEGIN
    UPDATE player_counts SET judged = judged - 1 WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = OLD.conversation_id); END;
CREATE TRIGGER score_added AFTER INSERT ON scores WHEN NOT EXISTS (SELECT 1 FROM scores
    WHERE conversation_id = NEW.conversation_id AND rater_id = NEW.rater_id AND rowid <> NEW.rowid) BEGIN
    INSERT OR IGNORE INTO rater_counts
        SELECT NEW.rater_id, benchmark, 0, 0 FROM conversations WHERE id = NEW.conversation_id;
    UPDATE rater_counts SET rated = rated + 1 WHERE rater_id = NEW.rater_id
        AND benchmark = (SELECT benchmark FROM conversations WHERE id = NEW.conversation_id); END;
CREATE TRIGGER score_removed AFTER DELETE ON scores WHEN NOT EXISTS (SELECT 1 FROM scores
    WHERE conversation_id = OLD.conversation_id AND rater_id = OLD.rater_id) BEGIN
    UPDATE rater_counts SET rated = rated - 1 WHERE rater_id = OLD.rater_id
        AND benchmark = (SELECT benchmark FROM conversations WHERE id = OLD.conversation_id);
    DELETE FROM rater_counts WHERE rater_id = OLD.rater_id AND rated = 0 AND compared = 0; END;
CREATE TRIGGER comparison_added AFTER INSERT ON comparisons BEGIN
    INSERT OR IGNORE INTO rater_counts
        SELECT NEW.rater_id, benchmark, 0, 0 FROM conversations WHERE id = NEW.first_id;
    UPDATE rater_counts SET compared = compared + 1 WHERE rater_id = NEW.rater_id
        AND benchmark = (SELECT benchmark FROM conversations WHERE id = NEW.first_id);
    UPDATE player_counts SET calls = calls + NEW.calls, cost = cost + NEW.cost, unpriced = unpriced + NEW.unpriced
        WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = NEW.first_id); END;
CREATE TRIGGER comparison_removed AFTER DELETE ON comparisons BEGIN
    UPDATE rater_counts SET compared = compared - 1 WHERE rater_id = OLD.rater_id
        AND benchmark = (SELECT benchmark FROM conversations WHERE id = OLD.first_id);
    DELETE FROM rater_counts WHERE rater_id = OLD.rater_id AND rated = 0 AND compared = 0;
    UPDATE player_counts SET calls = calls - OLD.calls, cost = cost - OLD.cost, unpriced = unpriced - OLD.unpriced
        WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = OLD.first_id); END;
CREATE TRIGGER comparison_changed AFTER UPDATE OF calls, cost, unpriced ON comparisons BEGIN
    UPDATE player_counts SET calls = calls + NEW.calls - OLD.calls, cost = cost + NEW.cost - OLD.cost,
        unpriced = unpriced + NEW.unpriced - OLD.unpriced
        WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = NEW.first_id); END;
CREATE TRIGGER judgement_added AFTER INSERT ON judgements BEGIN
    UPDATE player_counts SET calls = calls + NEW.calls, cost = cost + NEW.cost, unpriced = unpriced + NEW.unpriced
        WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = NEW.conversation_id); END;
CREATE TRIGGER judgement_removed AFTER DELETE ON judgements BEGIN
    UPDATE player_counts SET calls = calls - OLD.calls, cost = cost - OLD.cost, unpriced = unpriced - OLD.unpriced
        WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = OLD.conversation_id); END;
CREATE TRIGGER judgement_changed AFTER UPDATE OF calls, cost, unpriced ON judgements BEGIN
    UPDATE player_counts SET calls = calls + NEW.calls - OLD.calls, cost = cost + NEW.cost - OLD.cost,
        unpriced = unpriced + NEW.unpriced - OLD.unpriced
        WHERE (benchmark, language, player) =
        (SELECT benchmark, language, player FROM conversations WHERE id = NEW.conversation_id); END;

-- The items of studies. `asked`: pairs of a discarded scenario are excluded everywhere. `ranked`: the pairs of its
-- scenario are a group that is put in order.
CREATE VIEW study_items AS
    SELECT i.id, i.study_id, i.conversation_id, i.other_id, i.turn, i.judgement_id, i.stratum, i.known,
        i.other_id IS NULL OR i.stratum NOT IN (SELECT key FROM scenarios WHERE state = 'discarded') AS asked,
        i.other_id IS NOT NULL AND EXISTS (SELECT 1 FROM studies t JOIN criteria k ON k.scope = 'study:' || t.name
            WHERE t.id = i.study_id AND k.scale ->> '$[2]' = 'ranking') AS ranked
    FROM items i;

-- What an item shows: a conversation, or two; the key and the player of both, the player first in the alphabet first.
CREATE VIEW item_contents AS
    SELECT i.id AS item_id, c.reply_chars + ifnull(d.reply_chars, 0) AS reply_chars,
        iif(d.id IS NULL, c.key, iif(d.player < c.player, d.key || ' | ' || c.key, c.key || ' | ' || d.key)) AS key,
        iif(d.id IS NULL, c.player, iif(d.player < c.player, d.player || ' | ' || c.player,
            c.player || ' | ' || d.player)) AS player
    FROM items i JOIN conversations c ON c.id = i.conversation_id LEFT JOIN conversations d ON d.id = i.other_id;

-- Placements with their items. `number`: by what a desk knows it; one whose answers are ratings has that of its item:
-- taken back and assigned anew, it is the same (a pair may have other sides). `entry`: what is one item on a desk, the
-- placement or its group. `begun`: somebody has answered, flagged or closed it; what is not begun may be assigned anew.
CREATE VIEW placed_items AS
    SELECT p.id, p.item_id, p.rater_id, p.purpose, p.attempt, p.position, p.state, p.reason, p.flag, p.seconds, p.swapped,
        p.opened, p.submitted, i.study_id, i.conversation_id, i.other_id, i.turn, i.stratum, i.known, i.asked, i.ranked,
        iif(p.purpose IN ('first', 'extra') AND i.other_id IS NULL, p.item_id, p.id) AS number,
        iif(i.ranked, i.study_id || ' ' || i.stratum || ' ' || p.purpose || ' ' || p.attempt, p.id) AS entry,
        p.state <> 'open' OR p.flag <> '' OR EXISTS (SELECT 1 FROM answers a WHERE a.placement_id = p.id)
            OR EXISTS (SELECT 1 FROM ratings r WHERE r.conversation_id = i.conversation_id
            AND +r.study_id = i.study_id AND ifnull(r.turn, 0) = ifnull(i.turn, 0) AND r.rater_id = p.rater_id) AS begun
    FROM placements p JOIN study_items i ON i.id = p.item_id;

-- Answers to the pairs of studies by their rubric, also of judges; those that failed are excluded.
CREATE VIEW compared_items AS
    SELECT i.id AS item_id, i.study_id, x.rater_id, r.kind, r.simulated
    FROM items i JOIN studies t ON t.id = i.study_id
    JOIN comparisons x ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN (i.conversation_id, i.other_id)
        AND x.rubric = t.rubric AND x.failure IS NULL
    JOIN raters r ON r.id = x.rater_id;

-- What people found of judgements as these stand (a failed one may have been asked for again since): the answer
-- to the question “” (its values: `concord.rating.FINDINGS`), and the score they would have given, which is no
-- rating.
CREATE VIEW findings AS SELECT p.id AS placement_id, i.judgement_id, j.conversation_id, i.study_id, p.rater_id,
    p.submitted, CASE a.value WHEN 0 THEN 'reasonable' WHEN 1 THEN 'too_high' WHEN -1 THEN 'too_low'
    WHEN 2 THEN 'wrong' ELSE 'seen' END AS finding, a.reason AS comment, (SELECT c.value FROM answers c
    WHERE c.placement_id = p.id AND c.question <> '' AND c.superseded_at IS NULL) AS corrected
    FROM placements p JOIN items i ON i.id = p.item_id JOIN judgements j ON j.id = i.judgement_id
    JOIN answers a ON a.placement_id = p.id AND a.question = '' AND a.superseded_at IS NULL
    WHERE p.purpose = 'spot-check' AND (a.value IS NULL) = (j.failure IS NOT NULL);


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
    heartbeat_at TEXT NOT NULL,
    ended TEXT
);

-- Answered calls of work that is not finished, and for good those of moderation models (“moderations/NAME”, by
-- the text's hash). `beside` is what a reply says beside its text.
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
CREATE INDEX failures_of_benchmark ON failures (benchmark, kind);

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
