"""The steps that bring a database up to date, applied in order. A released step is never edited."""

import re
from collections.abc import Iterator

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

migrations = Migrations("concord")


def _run(db: Database, script: str) -> None:
    """Each statement by itself: `executescript` would commit the transaction a migration runs in."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)


def _step(name: str, script: str) -> None:
    """Add a step that is SQL alone."""
    migrations(name=name)(lambda db: _run(db, script))


_step(
    "001_conversations_ratings_runs_studies",
    """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE prompts (
    hash TEXT PRIMARY KEY, benchmark TEXT NOT NULL, version TEXT NOT NULL, name TEXT NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE criteria (
    scope TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,
    statement TEXT NOT NULL, scale TEXT NOT NULL, counted INTEGER NOT NULL, PRIMARY KEY (scope, name)
) WITHOUT ROWID;
CREATE TABLE raters (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('human', 'judge')), name TEXT NOT NULL,
    variant TEXT NOT NULL DEFAULT '', stand_in INTEGER NOT NULL DEFAULT 0, UNIQUE (kind, name, variant)
);
CREATE TABLE contexts (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, benchmark TEXT NOT NULL, language TEXT NOT NULL,
    player TEXT NOT NULL, messages TEXT NOT NULL, context_id INTEGER REFERENCES contexts(id),
    meta TEXT NOT NULL DEFAULT '{}', turns INTEGER NOT NULL, reply_chars INTEGER NOT NULL,
    stand_in INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, created TEXT NOT NULL
);
CREATE INDEX conversations_by_player ON conversations (benchmark, language, player);
CREATE TABLE facets (
    name TEXT NOT NULL, value TEXT NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    PRIMARY KEY (name, value, conversation_id)
) WITHOUT ROWID;
CREATE INDEX facets_of_conversation ON facets (conversation_id);
CREATE TABLE judgements (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), repeat INTEGER NOT NULL DEFAULT 0, failure TEXT,
    raw TEXT NOT NULL DEFAULT '', prompt TEXT NOT NULL DEFAULT '', meta TEXT NOT NULL DEFAULT '{}',
    calls INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    created TEXT NOT NULL
);
CREATE INDEX judgements_of_conversation ON judgements (conversation_id);
CREATE INDEX judgements_failed ON judgements (rater_id) WHERE failure IS NOT NULL;
CREATE TABLE studies (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    guidelines TEXT NOT NULL DEFAULT '', source TEXT NOT NULL, per_turn INTEGER NOT NULL DEFAULT 0,
    overlap INTEGER NOT NULL DEFAULT 0, seed INTEGER NOT NULL DEFAULT 0, anonymous INTEGER NOT NULL DEFAULT 0,
    meta TEXT NOT NULL DEFAULT '{}', created TEXT NOT NULL
);
CREATE TABLE study_units (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id), turn INTEGER,
    stratum TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX study_units_once ON study_units (study_id, conversation_id, ifnull(turn, 0));
CREATE INDEX study_units_of_conversation ON study_units (conversation_id);
CREATE TABLE annotators (
    rater_id INTEGER PRIMARY KEY REFERENCES raters(id) ON DELETE CASCADE, token_hash TEXT UNIQUE,
    invited TEXT NOT NULL, revoked TEXT
);
CREATE TABLE assignments (
    id INTEGER PRIMARY KEY, unit_id INTEGER NOT NULL REFERENCES study_units(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), position INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'skipped')),
    reason TEXT NOT NULL DEFAULT '', flag TEXT NOT NULL DEFAULT '', seconds REAL NOT NULL DEFAULT 0,
    submitted TEXT, UNIQUE (unit_id, rater_id)
);
CREATE INDEX assignments_of_rater ON assignments (rater_id, position);
CREATE TABLE ratings (
    id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    turn INTEGER, criterion TEXT NOT NULL, rater_id INTEGER NOT NULL REFERENCES raters(id),
    repeat INTEGER NOT NULL DEFAULT 0, study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE,
    score REAL NOT NULL, explanation TEXT NOT NULL DEFAULT '',
    judgement_id INTEGER REFERENCES judgements(id) ON DELETE CASCADE, created TEXT NOT NULL
);
CREATE UNIQUE INDEX ratings_once ON ratings
    (conversation_id, rater_id, criterion, ifnull(turn, 0), repeat, ifnull(study_id, 0));
CREATE INDEX ratings_of_study ON ratings (study_id) WHERE study_id IS NOT NULL;
CREATE INDEX ratings_of_judgement ON ratings (judgement_id) WHERE judgement_id IS NOT NULL;
CREATE TABLE revisions (
    id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    turn INTEGER, criterion TEXT NOT NULL, rater_id INTEGER NOT NULL REFERENCES raters(id),
    study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE, score REAL, given TEXT NOT NULL,
    replaced TEXT NOT NULL
);
CREATE TABLE scores (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), criterion TEXT NOT NULL, repeat INTEGER NOT NULL,
    study_id INTEGER, total REAL NOT NULL, n INTEGER NOT NULL
);
CREATE UNIQUE INDEX scores_once ON scores (conversation_id, rater_id, criterion, repeat, ifnull(study_id, 0));
CREATE INDEX scores_of_study ON scores (study_id) WHERE study_id IS NOT NULL;
CREATE TABLE summaries (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE, final REAL,
    spread REAL, judges INTEGER NOT NULL, refused INTEGER NOT NULL, failed INTEGER NOT NULL, people REAL
);
CREATE INDEX summaries_by_final ON summaries (final);
CREATE INDEX summaries_by_spread ON summaries (spread);
CREATE INDEX summaries_refused ON summaries (refused) WHERE refused > 0;
CREATE INDEX summaries_failed ON summaries (failed) WHERE failed > 0;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL, plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'stopped', 'broken')),
    message TEXT NOT NULL DEFAULT '', stop_asked INTEGER NOT NULL DEFAULT 0, pid INTEGER,
    host TEXT NOT NULL DEFAULT '', planned INTEGER NOT NULL DEFAULT 0, stored INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, started TEXT NOT NULL, beat TEXT NOT NULL,
    ended TEXT
);
CREATE TABLE journal (
    work TEXT NOT NULL, step TEXT NOT NULL, asked TEXT NOT NULL, reply TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (work, step)
) WITHOUT ROWID;
CREATE TABLE failures (
    work TEXT PRIMARY KEY, kind TEXT NOT NULL, message TEXT NOT NULL, raw TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 1, run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL,
    created TEXT NOT NULL
) WITHOUT ROWID
""",
)

# What an imported file says about a single rating, beside its score.
_step("002_rating_meta", "ALTER TABLE ratings ADD COLUMN meta TEXT")

# The last report stored of each browser at a desk: one that arrives twice is applied once.
_step(
    "003_desk_marks",
    """
CREATE TABLE desk_marks (
    rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE, client TEXT NOT NULL,
    n INTEGER NOT NULL, seen TEXT NOT NULL, PRIMARY KEY (rater_id, client)
) WITHOUT ROWID
""",
)

# Scenarios, comparisons, verifications, audits, and moderation scores.
_step(
    "004_scenarios_comparisons_spot_checks",
    """
CREATE TABLE scenarios (
    id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'accepted', 'rejected', 'discarded')),
    source TEXT NOT NULL, decided_by TEXT NOT NULL DEFAULT '', decided TEXT, created TEXT NOT NULL,
    UNIQUE (benchmark, kind, key)
);
CREATE INDEX scenarios_by_state ON scenarios (benchmark, kind, state);
CREATE TABLE comparisons (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), repeat INTEGER NOT NULL DEFAULT 0,
    verdict TEXT CHECK (verdict IN ('A', 'B', 'C')), explanation TEXT NOT NULL DEFAULT '', failure TEXT,
    raw TEXT NOT NULL DEFAULT '', prompt TEXT NOT NULL DEFAULT '', calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, created TEXT NOT NULL,
    CHECK ((verdict IS NULL) <> (failure IS NULL))
);
CREATE INDEX comparisons_of_first ON comparisons (first_id);
CREATE INDEX comparisons_of_second ON comparisons (second_id);
CREATE INDEX comparisons_of_rater ON comparisons (rater_id);
CREATE TABLE verifications (
    id INTEGER PRIMARY KEY, judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    finding TEXT NOT NULL CHECK (finding IN ('reasonable', 'too_high', 'too_low')),
    comment TEXT NOT NULL DEFAULT '', corrected REAL, created TEXT NOT NULL, UNIQUE (judgement_id, rater_id)
);
CREATE INDEX verifications_of_rater ON verifications (rater_id);
CREATE TABLE audits (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, benchmark TEXT NOT NULL, seed INTEGER NOT NULL,
    drawn_from INTEGER NOT NULL, created TEXT NOT NULL
);
CREATE TABLE audit_items (
    audit_id INTEGER NOT NULL REFERENCES audits(id) ON DELETE CASCADE, position INTEGER NOT NULL,
    judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    PRIMARY KEY (audit_id, position), UNIQUE (audit_id, judgement_id)
) WITHOUT ROWID;
CREATE TABLE moderations (
    hash TEXT NOT NULL, model TEXT NOT NULL, categories TEXT NOT NULL, stand_in INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL, PRIMARY KEY (hash, model)
) WITHOUT ROWID
""",
)

# Find a benchmark's newest conversations, and those furthest from people, without sorting all.
_step(
    "005_indexes_for_browsing",
    """
CREATE INDEX conversations_of_benchmark ON conversations (benchmark);
CREATE INDEX summaries_by_gap ON summaries (abs(final - people))
""",
)

# Compressed trajectories of conversations.
_step(
    "006_trajectories",
    """
CREATE TABLE trajectories (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE, body BLOB NOT NULL
)
""",
)

# Pairs of replies dealt to people to compare. The number of a pair taken back is not given again.
_step(
    "007_pairings",
    """
CREATE TABLE pairings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
    benchmark TEXT NOT NULL, scenario TEXT NOT NULL,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, position INTEGER NOT NULL,
    created TEXT NOT NULL
);
CREATE UNIQUE INDEX pairings_once ON pairings (rater_id, min(first_id, second_id), max(first_id, second_id));
CREATE INDEX pairings_of_benchmark ON pairings (benchmark, rater_id, position);
CREATE INDEX pairings_of_first ON pairings (first_id);
CREATE INDEX pairings_of_second ON pairings (second_id)
""",
)

# Allow the finding “seen”, for unreadable verdicts. SQLite changes a check only with the table.
_step(
    "008_unreadable_verdicts_seen",
    """
CREATE TABLE verifications_new (
    id INTEGER PRIMARY KEY, judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    finding TEXT NOT NULL CHECK (finding IN ('reasonable', 'too_high', 'too_low', 'seen')),
    comment TEXT NOT NULL DEFAULT '', corrected REAL, created TEXT NOT NULL, UNIQUE (judgement_id, rater_id)
);
INSERT INTO verifications_new SELECT id, judgement_id, rater_id, finding, comment, corrected, created
    FROM verifications;
DROP TABLE verifications;
ALTER TABLE verifications_new RENAME TO verifications;
CREATE INDEX verifications_of_rater ON verifications (rater_id)
""",
)

# The audit at whose desk a finding was made; NULL for triage.
# An earlier finding gets the first audit that had the judgement and was drawn before the finding.
_step(
    "009_where_a_finding_was_made",
    """
ALTER TABLE verifications ADD COLUMN audit_id INTEGER REFERENCES audits(id) ON DELETE SET NULL;
UPDATE verifications SET audit_id = (
    SELECT a.id FROM audit_items i JOIN audits a ON a.id = i.audit_id
    WHERE i.judgement_id = verifications.judgement_id
        AND a.created <= verifications.created ORDER BY a.id LIMIT 1
)
""",
)

# One word for what comes from mock models and simulated annotators.
_step(
    "010_simulated",
    """
ALTER TABLE raters RENAME COLUMN stand_in TO simulated;
ALTER TABLE conversations RENAME COLUMN stand_in TO simulated;
ALTER TABLE moderations RENAME COLUMN stand_in TO simulated
""",
)


@migrations(name="011_model_configurations")
def _configurations(db: Database) -> None:
    """The configuration of the model that made a result; NULL for earlier results."""
    _run(
        db,
        """
CREATE TABLE model_configurations (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, nickname TEXT NOT NULL, endpoint TEXT NOT NULL,
    model TEXT NOT NULL, kind TEXT NOT NULL, parameters TEXT NOT NULL, system TEXT NOT NULL,
    replies TEXT NOT NULL, created TEXT NOT NULL
);
CREATE INDEX model_configurations_of_nickname ON model_configurations (nickname);
CREATE TABLE conversation_configurations (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    configuration_id INTEGER NOT NULL REFERENCES model_configurations(id),
    reported TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (conversation_id, configuration_id)
) WITHOUT ROWID;
ALTER TABLE judgements ADD COLUMN configuration_id INTEGER REFERENCES model_configurations(id);
ALTER TABLE judgements ADD COLUMN reported TEXT NOT NULL DEFAULT '[]';
ALTER TABLE comparisons ADD COLUMN configuration_id INTEGER REFERENCES model_configurations(id);
ALTER TABLE comparisons ADD COLUMN reported TEXT NOT NULL DEFAULT '[]';
ALTER TABLE moderations ADD COLUMN configuration_id INTEGER REFERENCES model_configurations(id);
ALTER TABLE moderations ADD COLUMN reported TEXT NOT NULL DEFAULT '[]';
ALTER TABLE journal ADD COLUMN configuration_id INTEGER REFERENCES model_configurations(id);
ALTER TABLE journal ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN cut INTEGER NOT NULL DEFAULT 0
""",
    )
    db.conn.executemany(
        "INSERT OR IGNORE INTO facets (conversation_id, name, value) VALUES (?, ?, ?)", list(_conditions(db))
    )


def _conditions(db: Database) -> Iterator[tuple[int, str, str]]:
    """The conditions of earlier results that can be read from their keys and scenarios."""
    rows = db.execute(
        "SELECT c.id, c.benchmark, c.key, json_extract(c.meta, '$.residents'), (SELECT s.source FROM "
        "scenarios s JOIN facets f ON f.value = s.key WHERE f.conversation_id = c.id AND f.name = s.kind "
        "AND s.kind IN ('script', 'task') ORDER BY s.kind LIMIT 1), (SELECT json_extract(s.body, '$.town') "
        "FROM scenarios s JOIN facets f ON f.value = s.key WHERE f.conversation_id = c.id "
        "AND f.name = 'scenario' AND s.kind = 'scenario'), (SELECT group_concat(name) FROM facets "
        "WHERE conversation_id = c.id) FROM conversations c WHERE c.key GLOB c.benchmark || '/*'"
    ).fetchall()
    for number, benchmark, key, residents, source, town, names in rows:
        parts, facets = key.removeprefix(f"{benchmark}/").split("/"), set((names or "").split(","))
        if re.fullmatch(r"v\d+", parts[0]):
            yield number, "version", parts[0]
        if "interrogator" in facets:
            yield number, "symmetric", "yes" if parts[-1] == "symmetric" else "no"
        if "performer" in facets and len(parts) > 2:
            minutes = (m[1] for part in parts if (m := re.fullmatch(r"(\d+) min", part)))
            yield number, "task_set", parts[2]
            yield number, "step_minutes", next(minutes, "5")
        if "user" in facets:
            source = source or "catalogue"
            yield number, "turns", m[1] if (m := re.fullmatch(r"(\d+) turns", parts[-1])) else "4"
        for name, value in (("residents", residents), ("source", source), ("town", town)):
            if value:
                yield number, name, value


# Each rater's final of each conversation, conditional criteria, and the criterion for a refusal.
# Of criteria registered earlier, those are conditional that a judge's conversation went without.
_step(
    "012_finals",
    """
CREATE TABLE finals (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), final REAL, PRIMARY KEY (conversation_id, rater_id)
) WITHOUT ROWID;
ALTER TABLE summaries ADD COLUMN incomplete INTEGER NOT NULL DEFAULT 0;
ALTER TABLE criteria ADD COLUMN conditional INTEGER NOT NULL DEFAULT 0;
CREATE TABLE refusals (benchmark TEXT PRIMARY KEY, criterion TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO refusals SELECT DISTINCT benchmark, 'refusal' FROM conversations;
UPDATE criteria SET conditional = 1 WHERE counted AND EXISTS (
    SELECT 1 FROM conversations c JOIN judgements j ON j.conversation_id = c.id
    WHERE c.benchmark = criteria.scope AND j.failure IS NULL AND NOT EXISTS (
        SELECT 1 FROM ratings r WHERE r.conversation_id = c.id AND r.criterion = criteria.name
            AND r.study_id IS NULL))
""",
)

# The last report stored of each browser at any desk, not only at annotators' desks.
_step(
    "013_marks_of_every_desk",
    """
CREATE TABLE marks_new (
    desk TEXT NOT NULL, client TEXT NOT NULL, n INTEGER NOT NULL, seen TEXT NOT NULL,
    PRIMARY KEY (desk, client)
) WITHOUT ROWID;
INSERT INTO marks_new SELECT 'annotator ' || rater_id, client, n, seen FROM desk_marks;
DROP TABLE desk_marks;
ALTER TABLE marks_new RENAME TO desk_marks
""",
)

# Who is signed in, one-time links, and when an annotator's link expires; of each token only the hash.
_step(
    "014_sessions",
    """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('local', 'passphrase', 'oidc', 'annotator')),
    rater_id INTEGER REFERENCES raters(id) ON DELETE CASCADE, name TEXT NOT NULL,
    source TEXT NOT NULL, browser TEXT NOT NULL,
    begun TEXT NOT NULL, used TEXT NOT NULL, expires TEXT NOT NULL, ended TEXT
);
CREATE INDEX sessions_of_rater ON sessions (rater_id) WHERE rater_id IS NOT NULL;
CREATE TABLE one_time_links (
    token_hash TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, expires TEXT NOT NULL, used TEXT
) WITHOUT ROWID;
ALTER TABLE annotators ADD COLUMN expires TEXT
""",
)

# What a change that is stored in parts has added as long as it has not ended: ids from first to last of a
# table, or a criterion (scope, name), or a benchmark's refusal.
_step(
    "015_unfinished",
    """
CREATE TABLE unfinished (id INTEGER PRIMARY KEY, part_of TEXT NOT NULL, first NOT NULL, last NOT NULL)
""",
)

# The scale that judges answer on, where it is another than people's; and which scales of imported ratings
# were guessed: those without words, because a declared one cannot be told from them any more.
_step(
    "016_scales",
    """
ALTER TABLE criteria ADD COLUMN judged TEXT;
UPDATE criteria SET judged = '[[1, 2, 3, 4, 5], ["1", "2", "3", "4", "5"], false, false]'
WHERE scope IN (SELECT name FROM studies WHERE source = 'fed'
    UNION SELECT 'study:' || name FROM studies WHERE source = 'fed');
UPDATE criteria SET scale = json_array(json_extract(scale, '$[0]'), json_extract(scale, '$[1]'),
    json(CASE WHEN json_extract(scale, '$[2]') THEN 'true' ELSE 'false' END), json('true'))
WHERE scope IN (SELECT name FROM studies WHERE source = 'ratings'
    UNION SELECT 'study:' || name FROM studies WHERE source = 'ratings')
AND NOT EXISTS (SELECT 1 FROM json_each(scale, '$[0]') v JOIN json_each(scale, '$[1]') l ON v.key = l.key
    WHERE printf('%g', v.value) <> l.value)
""",
)

# What a reply says beside its text (thinking, how it ended), and whose reply failed, for which reason.
_step(
    "017_replies",
    """
ALTER TABLE journal ADD COLUMN beside TEXT NOT NULL DEFAULT '{}';
ALTER TABLE failures ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE failures ADD COLUMN benchmark TEXT NOT NULL DEFAULT '';
ALTER TABLE failures ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE failures ADD COLUMN player TEXT NOT NULL DEFAULT '';
ALTER TABLE failures ADD COLUMN facets TEXT NOT NULL DEFAULT '{}';
ALTER TABLE conversations ADD COLUMN cut_replies INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET cut_replies = (
    SELECT count(*) FROM json_each(messages) m WHERE json_extract(m.value, '$[2].cut')
) WHERE messages LIKE '%"cut": true%'
""",
)

# The judges without a final are found among the finals.
_step("018_summaries_without_incomplete", "ALTER TABLE summaries DROP COLUMN incomplete")

# The tokens in that an endpoint read from its prompt cache.
_step(
    "019_cached_tokens",
    ";\n".join(
        f"ALTER TABLE {table} ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0"
        for table in ("runs", "journal", "conversations", "judgements", "comparisons")
    ),
)

# Rubrics by version: each is kept whole when it is first used, and `variant` tells its judges from those of
# other versions. What a question of a rubric asks beside a score, and of which conversations.
_step(
    "020_rubrics",
    """
CREATE TABLE rubrics (
    name TEXT NOT NULL, version INTEGER NOT NULL, variant TEXT NOT NULL UNIQUE, hash TEXT NOT NULL,
    body TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (name, version), UNIQUE (name, hash)
);
ALTER TABLE criteria ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE criteria ADD COLUMN required INTEGER NOT NULL DEFAULT 1;
ALTER TABLE criteria ADD COLUMN only_of TEXT NOT NULL DEFAULT '{}'
""",
)

# Which run is making which piece of work, and the spending limit of a run: what it may have spent until it
# asks again, and what other runs of its plan had spent when it asked.
_step(
    "021_leases_and_budgets",
    """
CREATE TABLE leases (
    work TEXT PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX leases_of_run ON leases (run_id);
ALTER TABLE runs ADD COLUMN max_cost REAL;
ALTER TABLE runs ADD COLUMN granted REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN elsewhere REAL NOT NULL DEFAULT 0
""",
)


@migrations(name="022_hosts_of_the_first_runs")
def _hosts(db: Database) -> None:
    """The first runs did not say on which machine they were; later ones always did."""
    if "host" not in db.table("runs").columns_dict:
        db.execute("ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT ''")


# Batches at an endpoint, and the calls that wait in them: `batch_id` is null where a call had no answer and
# is to be asked again, `kind` is set where it failed for good and no run has been told yet.
_step(
    "023_batches",
    """
CREATE TABLE batches (
    id INTEGER PRIMARY KEY, mark TEXT NOT NULL UNIQUE, run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL,
    model TEXT NOT NULL, lines INTEGER NOT NULL, state TEXT NOT NULL, file TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '', created TEXT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX batches_open ON batches (state) WHERE state NOT IN ('collected', 'refused', 'given up');
CREATE INDEX batches_of_run ON batches (run_id);
CREATE TABLE batch_calls (
    id TEXT PRIMARY KEY, batch_id INTEGER REFERENCES batches(id) ON DELETE SET NULL, model TEXT NOT NULL,
    work TEXT NOT NULL, step TEXT NOT NULL, asked TEXT NOT NULL, cost REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, kind TEXT, message TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '', raw TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX batch_calls_of_batch ON batch_calls (batch_id) WHERE batch_id IS NOT NULL
""",
)

# Items on an annotator's desk whose answers are no ratings: an item that comes again, and items whose answers
# are known. Their numbers begin far above those of units, and none is given twice. Decisions to leave an
# annotator out of a study's figures, or to take them in again.
_step(
    "024_hidden_items_and_exclusions",
    """
CREATE TABLE gold_answers (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, turn INTEGER,
    criterion TEXT NOT NULL, answer REAL NOT NULL, tolerance REAL NOT NULL,
    explanation TEXT NOT NULL DEFAULT '', attention INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX gold_answers_once ON gold_answers
    (study_id, conversation_id, ifnull(turn, 0), criterion);
CREATE INDEX gold_answers_of_conversation ON gold_answers (conversation_id);
CREATE TABLE hidden_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    kind TEXT NOT NULL CHECK (kind IN ('repeat', 'gold')),
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, turn INTEGER,
    position REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'skipped')),
    reason TEXT NOT NULL DEFAULT '', flag TEXT NOT NULL DEFAULT '', seconds REAL NOT NULL DEFAULT 0,
    submitted TEXT
);
INSERT INTO sqlite_sequence (name, seq) VALUES ('hidden_items', 1099511627776);
CREATE UNIQUE INDEX hidden_items_once ON hidden_items
    (rater_id, study_id, conversation_id, ifnull(turn, 0), kind);
CREATE INDEX hidden_items_of_study ON hidden_items (study_id);
CREATE INDEX hidden_items_of_conversation ON hidden_items (conversation_id);
CREATE TABLE hidden_answers (
    item_id INTEGER NOT NULL REFERENCES hidden_items(id) ON DELETE CASCADE, criterion TEXT NOT NULL,
    score REAL NOT NULL, explanation TEXT NOT NULL DEFAULT '', created TEXT NOT NULL,
    PRIMARY KEY (item_id, criterion)
) WITHOUT ROWID;
CREATE TABLE exclusions (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), excluded INTEGER NOT NULL,
    reason TEXT NOT NULL, decided TEXT NOT NULL
);
CREATE INDEX exclusions_of_study ON exclusions (study_id)
""",
)

# Answers given in sight of others': an adjudicator's, of which an item has one a criterion, and an
# annotator's second one after the judge's score was shown. None is a rating; a replaced one is kept.
_step(
    "025_informed_answers",
    """
CREATE TABLE informed_answers (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('adjudicated', 'revised')),
    unit_id INTEGER NOT NULL REFERENCES study_units(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), criterion TEXT NOT NULL, score REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT '', shown REAL, given TEXT NOT NULL, replaced TEXT
);
CREATE UNIQUE INDEX informed_answers_once ON informed_answers
    (unit_id, kind, criterion, CASE kind WHEN 'adjudicated' THEN 0 ELSE rater_id END) WHERE replaced IS NULL;
CREATE TABLE reveals (
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), opened TEXT NOT NULL, PRIMARY KEY (study_id, rater_id)
) WITHOUT ROWID
""",
)

# Studies of pairs, which a rubric's pairwise questions are asked of; what is dealt to people names the study
# (a benchmark's own question has the benchmark's name), and an answer the question.
_step(
    "026_studies_of_pairs",
    """
CREATE TABLE pair_studies (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL, benchmark TEXT NOT NULL,
    rubric TEXT NOT NULL, version INTEGER NOT NULL, criteria TEXT NOT NULL,
    guidelines TEXT NOT NULL DEFAULT '', seed INTEGER NOT NULL DEFAULT 0,
    source TEXT NOT NULL DEFAULT '', created TEXT NOT NULL
);
CREATE TABLE study_pairs (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES pair_studies(id) ON DELETE CASCADE,
    scenario TEXT NOT NULL,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    UNIQUE (study_id, first_id, second_id), CHECK (first_id < second_id)
);
CREATE INDEX study_pairs_of_first ON study_pairs (first_id, second_id);
CREATE INDEX study_pairs_of_second ON study_pairs (second_id);
ALTER TABLE pairings RENAME COLUMN benchmark TO study;
ALTER TABLE pairings ADD COLUMN skipped TEXT;
DROP INDEX pairings_once;
CREATE UNIQUE INDEX pairings_once
    ON pairings (rater_id, study, min(first_id, second_id), max(first_id, second_id));
ALTER TABLE comparisons ADD COLUMN rubric TEXT NOT NULL DEFAULT '';
ALTER TABLE comparisons ADD COLUMN criterion TEXT NOT NULL DEFAULT '';
ALTER TABLE comparisons ADD COLUMN strong INTEGER NOT NULL DEFAULT 0
""",
)

# What was done about a study while it ran: closed, reopened, an item requeued, somebody's items reassigned.
# Whom a decision leaves out of which study, for all who read ratings; and the sums that follow from it.
_step(
    "027_acts_on_studies",
    """
CREATE TABLE study_acts (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER REFERENCES raters(id), what TEXT NOT NULL, item TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL, by TEXT NOT NULL, done TEXT NOT NULL
);
CREATE INDEX study_acts_of_study ON study_acts (study_id);
CREATE VIEW left_out AS SELECT study_id, rater_id FROM exclusions e WHERE excluded AND id = (
    SELECT max(id) FROM exclusions l WHERE l.study_id = e.study_id AND l.rater_id = e.rater_id)
""",
)

# What was fixed before people rated a study, as the text whose SHA-256 is beside it; no row is changed.
_step(
    "028_registrations",
    """
CREATE TABLE registrations (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    document TEXT NOT NULL, sha256 TEXT NOT NULL, ratings INTEGER NOT NULL, by TEXT NOT NULL,
    registered TEXT NOT NULL
);
CREATE INDEX registrations_of_study ON registrations (study_id)
""",
)

# Training: items with explained answers before a study's own, in numbered attempts. `told` is when somebody
# was shown the known answer of an item, which locks theirs. SQLite cannot change a CHECK, so that the tables
# are made anew.
_step(
    "029_training",
    """
ALTER TABLE gold_answers ADD COLUMN training INTEGER NOT NULL DEFAULT 0;
CREATE TABLE hidden_new (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id),
    kind TEXT NOT NULL CHECK (kind IN ('repeat', 'gold', 'training')),
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, turn INTEGER,
    position REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'skipped')),
    reason TEXT NOT NULL DEFAULT '', flag TEXT NOT NULL DEFAULT '', seconds REAL NOT NULL DEFAULT 0,
    submitted TEXT, attempt INTEGER NOT NULL DEFAULT 0, told TEXT
);
INSERT INTO sqlite_sequence (name, seq) SELECT 'hidden_new', seq FROM sqlite_sequence
    WHERE name = 'hidden_items';
INSERT INTO hidden_new SELECT id, study_id, rater_id, kind, conversation_id, turn, position, state, reason,
    flag, seconds, submitted, 0, NULL FROM hidden_items;
CREATE TABLE hidden_answers_new (
    item_id INTEGER NOT NULL REFERENCES hidden_new(id) ON DELETE CASCADE, criterion TEXT NOT NULL,
    score REAL NOT NULL, explanation TEXT NOT NULL DEFAULT '', created TEXT NOT NULL,
    PRIMARY KEY (item_id, criterion)
) WITHOUT ROWID;
INSERT INTO hidden_answers_new SELECT item_id, criterion, score, explanation, created FROM hidden_answers;
DROP TABLE hidden_answers;
DROP TABLE hidden_items;
ALTER TABLE hidden_new RENAME TO hidden_items;
ALTER TABLE hidden_answers_new RENAME TO hidden_answers;
CREATE UNIQUE INDEX hidden_items_once ON hidden_items
    (rater_id, study_id, conversation_id, ifnull(turn, 0), kind, attempt);
CREATE INDEX hidden_items_of_study ON hidden_items (study_id);
CREATE INDEX hidden_items_of_conversation ON hidden_items (conversation_id)
""",
)

# Links for people of a crowd platform: one a study, and who came by it. When somebody's time is over, what
# they have not begun is taken back (`returned`).
_step(
    "030_crowds",
    """
CREATE TABLE crowds (
    study_id INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE, token_hash TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL, quota INTEGER NOT NULL, items INTEGER NOT NULL, minutes INTEGER NOT NULL,
    code TEXT NOT NULL DEFAULT '', closed TEXT
);
CREATE TABLE crowd_workers (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), worker TEXT NOT NULL, submission TEXT NOT NULL,
    task TEXT NOT NULL DEFAULT '', came TEXT NOT NULL, due TEXT NOT NULL, returned TEXT,
    code TEXT NOT NULL, clashes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (study_id, worker), UNIQUE (study_id, rater_id)
);
CREATE INDEX crowd_workers_of_rater ON crowd_workers (rater_id)
""",
)

# Ratings dealt because the ones before them differ. Figures of agreement leave them out.
_step("031_extra_ratings", "ALTER TABLE assignments ADD COLUMN extra INTEGER NOT NULL DEFAULT 0")

# What annotators say of an item after they were shown each other's answers; “” for nothing to add.
_step(
    "032_discussed",
    """
CREATE TABLE discussed (
    unit_id INTEGER NOT NULL REFERENCES study_units(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), text TEXT NOT NULL, given TEXT NOT NULL,
    PRIMARY KEY (unit_id, rater_id)
) WITHOUT ROWID
""",
)

# What was done beside acts on studies: exports, researchers let in or kept out, names of annotators removed.
# `members` are researchers and adjudicators with a link of their own; sessions get their kind, and SQLite
# cannot change a CHECK, so that the table is made anew.
_step(
    "033_audit_and_members",
    """
ALTER TABLE exclusions ADD COLUMN by TEXT NOT NULL DEFAULT '';
CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY, done TEXT NOT NULL, by TEXT NOT NULL, what TEXT NOT NULL,
    study TEXT NOT NULL DEFAULT '', about TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL DEFAULT ''
);
CREATE TABLE members (
    name TEXT PRIMARY KEY, role TEXT NOT NULL CHECK (role IN ('researcher', 'adjudicator')),
    token_hash TEXT UNIQUE, invited TEXT NOT NULL, expires TEXT, revoked TEXT
);
CREATE TABLE sessions_new (
    id INTEGER PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('local', 'passphrase', 'oidc', 'annotator', 'member')),
    rater_id INTEGER REFERENCES raters(id) ON DELETE CASCADE, name TEXT NOT NULL,
    source TEXT NOT NULL, browser TEXT NOT NULL,
    begun TEXT NOT NULL, used TEXT NOT NULL, expires TEXT NOT NULL, ended TEXT
);
INSERT INTO sessions_new SELECT id, token_hash, kind, rater_id, name, source, browser, begun, used, expires,
    ended FROM sessions;
DROP TABLE sessions;
ALTER TABLE sessions_new RENAME TO sessions;
CREATE INDEX sessions_of_rater ON sessions (rater_id) WHERE rater_id IS NOT NULL
""",
)

# Pairs have what other items of a desk have: a comment for the researcher, time at work, time of the last
# answer.
_step(
    "034_pairings_at_the_desk",
    """
ALTER TABLE pairings ADD COLUMN flag TEXT NOT NULL DEFAULT '';
ALTER TABLE pairings ADD COLUMN seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE pairings ADD COLUMN answered TEXT
""",
)

# What was spent is summed up without reading the rows, which hold texts.
_step(
    "035_spent",
    """
CREATE INDEX conversations_spent ON conversations (calls, cost);
CREATE INDEX judgements_spent ON judgements (calls, cost);
CREATE INDEX comparisons_spent ON comparisons (calls, cost)
""",
)

# Registrations of studies of pairs.
_step(
    "036_registrations_of_pairs",
    """
CREATE TABLE pair_registrations (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES pair_studies(id) ON DELETE CASCADE,
    document TEXT NOT NULL, sha256 TEXT NOT NULL, ratings INTEGER NOT NULL, by TEXT NOT NULL,
    registered TEXT NOT NULL
);
CREATE INDEX pair_registrations_of_study ON pair_registrations (study_id)
""",
)

# The numbers by which browsers know items are computed with it, so that nobody can compute them elsewhere.
_step(
    "037_secret_of_desks",
    """
INSERT INTO settings (key, value) VALUES ('desk numbers', lower(hex(randomblob(16))))
""",
)
