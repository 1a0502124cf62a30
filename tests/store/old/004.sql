BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'concord','001_conversations_ratings_runs_studies','2026-11-22 19:06:53.868952+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'concord','002_rating_meta','2026-11-22 19:06:53.869454+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'concord','003_desk_marks','2026-11-22 19:06:53.869651+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'concord','004_scenarios_comparisons_spot_checks','2026-11-22 19:06:53.870269+00:00');
CREATE TABLE annotators (
    rater_id INTEGER PRIMARY KEY REFERENCES raters(id) ON DELETE CASCADE,
    token_hash TEXT UNIQUE, invited TEXT NOT NULL, revoked TEXT
);
CREATE TABLE assignments (
    id INTEGER PRIMARY KEY, unit_id INTEGER NOT NULL REFERENCES study_units(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), position INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'skipped')),
    reason TEXT NOT NULL DEFAULT '', flag TEXT NOT NULL DEFAULT '', seconds REAL NOT NULL DEFAULT 0, submitted TEXT,
    UNIQUE (unit_id, rater_id)
);
CREATE TABLE audit_items (
    audit_id INTEGER NOT NULL REFERENCES audits(id) ON DELETE CASCADE, position INTEGER NOT NULL,
    judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    PRIMARY KEY (audit_id, position), UNIQUE (audit_id, judgement_id)
) WITHOUT ROWID;
CREATE TABLE audits (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, benchmark TEXT NOT NULL, seed INTEGER NOT NULL,
    drawn_from INTEGER NOT NULL, created TEXT NOT NULL
);
CREATE TABLE comparisons (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    first_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    second_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), repeat INTEGER NOT NULL DEFAULT 0,
    verdict TEXT CHECK (verdict IN ('A', 'B', 'C')), explanation TEXT NOT NULL DEFAULT '', failure TEXT,
    raw TEXT NOT NULL DEFAULT '', prompt TEXT NOT NULL DEFAULT '',
    calls INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, created TEXT NOT NULL,
    CHECK ((verdict IS NULL) <> (failure IS NULL))
);
CREATE TABLE contexts (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "contexts" VALUES(1,'3925f041d7cbda41171a1d2fb4c84b46be2078581d92e12d2d98e0ba6602e59d','{"Character":"Tully"}');
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, benchmark TEXT NOT NULL, language TEXT NOT NULL, player TEXT NOT NULL,
    messages TEXT NOT NULL, context_id INTEGER REFERENCES contexts(id), meta TEXT NOT NULL DEFAULT '{}',
    turns INTEGER NOT NULL, reply_chars INTEGER NOT NULL, stand_in INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, created TEXT NOT NULL
);
INSERT INTO "conversations" VALUES(1,'pingpong/0','pingpong','en','player','[["user","Hi.",{}],["assistant","Hello.",{}],["user","And you?",{}],["assistant","Well.",{}]]',1,'{}',2,11,0,2,10,5,0.1,1.0,'2026-11-22T19:06:53.908+00:00');
INSERT INTO "conversations" VALUES(2,'pingpong/1','pingpong','en','player','[["user","Hi.",{}],["assistant","Hello.",{}],["user","And you?",{}],["assistant","Well.",{}]]',1,'{}',2,11,0,2,10,5,0.1,1.0,'2026-11-22T19:06:53.910+00:00');
INSERT INTO "conversations" VALUES(3,'pingpong/2','pingpong','en','player','[["user","Hi.",{}],["assistant","Hello.",{}],["user","And you?",{}],["assistant","Well.",{}]]',1,'{}',2,11,0,2,10,5,0.1,1.0,'2026-11-22T19:06:53.910+00:00');
CREATE TABLE criteria (
    scope TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL, statement TEXT NOT NULL,
    scale TEXT NOT NULL, counted INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) WITHOUT ROWID;
INSERT INTO "criteria" VALUES('pingpong',0,'fluency','','The replies are fluent.','[[1, 2, 3, 4, 5], ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"], false]',1);
INSERT INTO "criteria" VALUES('pingpong',1,'refusal','','Refuses.','[[0, 1], ["No", "Yes"], false]',0);
INSERT INTO "criteria" VALUES('study:drawn',0,'fluency','','The replies are fluent.','[[1, 2, 3, 4, 5], ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"], false]',1);
CREATE TABLE desk_marks (rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE, client TEXT NOT NULL, n INTEGER NOT NULL, seen TEXT NOT NULL, PRIMARY KEY (rater_id, client)) WITHOUT ROWID;
CREATE TABLE facets (
    name TEXT NOT NULL, value TEXT NOT NULL, conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    PRIMARY KEY (name, value, conversation_id)
) WITHOUT ROWID;
INSERT INTO "facets" VALUES('character','tully',1);
INSERT INTO "facets" VALUES('character','tully',2);
INSERT INTO "facets" VALUES('character','tully',3);
CREATE TABLE failures (
    work TEXT PRIMARY KEY, kind TEXT NOT NULL, message TEXT NOT NULL, raw TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 1, run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL, created TEXT NOT NULL
) WITHOUT ROWID
;
INSERT INTO "failures" VALUES('w','timeout','took too long','',1,1,'2026-11-22T19:06:53.911+00:00');
CREATE TABLE journal (
    work TEXT NOT NULL, step TEXT NOT NULL, asked TEXT NOT NULL, reply TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (work, step)
) WITHOUT ROWID;
CREATE TABLE judgements (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), repeat INTEGER NOT NULL DEFAULT 0,
    failure TEXT, raw TEXT NOT NULL DEFAULT '', prompt TEXT NOT NULL DEFAULT '', meta TEXT NOT NULL DEFAULT '{}',
    calls INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, created TEXT NOT NULL
);
INSERT INTO "judgements" VALUES(1,'j0',1,1,0,NULL,'','','{}',1,9,3,0.2,1.0,'2026-11-22T19:06:53.909+00:00');
INSERT INTO "judgements" VALUES(2,'j1',2,1,0,NULL,'','','{}',1,9,3,0.2,1.0,'2026-11-22T19:06:53.910+00:00');
INSERT INTO "judgements" VALUES(3,'j2',3,1,0,NULL,'','','{}',1,9,3,0.2,1.0,'2026-11-22T19:06:53.910+00:00');
INSERT INTO "judgements" VALUES(4,'jf',1,2,0,'no JSON','raw','','{}',0,0,0,0.0,0.0,'2026-11-22T19:06:53.910+00:00');
CREATE TABLE moderations (
    hash TEXT NOT NULL, model TEXT NOT NULL, categories TEXT NOT NULL, stand_in INTEGER NOT NULL DEFAULT 0, created TEXT NOT NULL,
    PRIMARY KEY (hash, model)
) WITHOUT ROWID
;
CREATE TABLE prompts (
    hash TEXT PRIMARY KEY, benchmark TEXT NOT NULL, version TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE raters (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('human', 'judge')), name TEXT NOT NULL,
    variant TEXT NOT NULL DEFAULT '', stand_in INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, name, variant)
);
INSERT INTO "raters" VALUES(1,'judge','strict','v2',0);
INSERT INTO "raters" VALUES(2,'judge','lenient','v2',0);
INSERT INTO "raters" VALUES(3,'human','Ann','',0);
INSERT INTO "raters" VALUES(4,'human','Ben','',0);
CREATE TABLE ratings (
    id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, turn INTEGER,
    criterion TEXT NOT NULL, rater_id INTEGER NOT NULL REFERENCES raters(id), repeat INTEGER NOT NULL DEFAULT 0,
    study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE, score REAL NOT NULL, explanation TEXT NOT NULL DEFAULT '',
    judgement_id INTEGER REFERENCES judgements(id) ON DELETE CASCADE, created TEXT NOT NULL
, meta TEXT);
INSERT INTO "ratings" VALUES(1,1,1,'fluency',1,0,NULL,4.0,'why',1,'2026-11-22T19:06:53.909+00:00',NULL);
INSERT INTO "ratings" VALUES(2,1,2,'fluency',1,0,NULL,5.0,'why',1,'2026-11-22T19:06:53.909+00:00',NULL);
INSERT INTO "ratings" VALUES(3,2,1,'fluency',1,0,NULL,3.0,'why',2,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(4,2,2,'fluency',1,0,NULL,4.0,'why',2,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(5,3,1,'fluency',1,0,NULL,4.0,'why',3,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(6,3,2,'fluency',1,0,NULL,5.0,'why',3,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(7,1,NULL,'fluency',3,0,1,2.0,'',NULL,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(8,2,NULL,'fluency',3,0,1,3.0,'',NULL,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(9,3,NULL,'fluency',3,0,1,4.0,'',NULL,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(10,1,NULL,'fluency',4,0,1,2.0,'',NULL,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(11,2,NULL,'fluency',4,0,1,4.0,'',NULL,'2026-11-22T19:06:53.910+00:00',NULL);
INSERT INTO "ratings" VALUES(12,3,NULL,'fluency',4,0,1,4.0,'',NULL,'2026-11-22T19:06:53.910+00:00',NULL);
CREATE TABLE revisions (
    id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, turn INTEGER,
    criterion TEXT NOT NULL, rater_id INTEGER NOT NULL REFERENCES raters(id), study_id INTEGER REFERENCES studies(id) ON DELETE CASCADE,
    score REAL, given TEXT NOT NULL, replaced TEXT NOT NULL
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL, plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'stopped', 'broken')), message TEXT NOT NULL DEFAULT '',
    stop_asked INTEGER NOT NULL DEFAULT 0, pid INTEGER, host TEXT NOT NULL DEFAULT '',
    planned INTEGER NOT NULL DEFAULT 0, stored INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    started TEXT NOT NULL, beat TEXT NOT NULL, ended TEXT
);
INSERT INTO "runs" VALUES(1,'pingpong','{"benchmark": "pingpong", "models": {"players": ["player"]}, "options": {}}','finished','',0,1,'host',0,0,0,0,0,0,0,0.0,0.0,'2026-11-22T19:06:53.911+00:00','2026-11-22T19:06:53.911+00:00','2026-11-22T19:06:53.911+00:00');
CREATE TABLE scenarios (
    id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'accepted', 'rejected', 'discarded')), source TEXT NOT NULL,
    decided_by TEXT NOT NULL DEFAULT '', decided TEXT, created TEXT NOT NULL,
    UNIQUE (benchmark, kind, key)
);
CREATE TABLE scores (
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE, rater_id INTEGER NOT NULL REFERENCES raters(id),
    criterion TEXT NOT NULL, repeat INTEGER NOT NULL, study_id INTEGER, total REAL NOT NULL, n INTEGER NOT NULL
);
INSERT INTO "scores" VALUES(1,1,'fluency',0,NULL,9.0,2);
INSERT INTO "scores" VALUES(1,3,'fluency',0,1,2.0,1);
INSERT INTO "scores" VALUES(1,4,'fluency',0,1,2.0,1);
INSERT INTO "scores" VALUES(2,1,'fluency',0,NULL,7.0,2);
INSERT INTO "scores" VALUES(2,3,'fluency',0,1,3.0,1);
INSERT INTO "scores" VALUES(2,4,'fluency',0,1,4.0,1);
INSERT INTO "scores" VALUES(3,1,'fluency',0,NULL,9.0,2);
INSERT INTO "scores" VALUES(3,3,'fluency',0,1,4.0,1);
INSERT INTO "scores" VALUES(3,4,'fluency',0,1,4.0,1);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE studies (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL, guidelines TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL, per_turn INTEGER NOT NULL DEFAULT 0, overlap INTEGER NOT NULL DEFAULT 0, seed INTEGER NOT NULL DEFAULT 0,
    anonymous INTEGER NOT NULL DEFAULT 0, meta TEXT NOT NULL DEFAULT '{}', created TEXT NOT NULL
);
INSERT INTO "studies" VALUES(1,'drawn','drawn','','ratings',0,0,0,0,'{}','2026-11-22T19:06:53.910+00:00');
CREATE TABLE study_units (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id), turn INTEGER, stratum TEXT NOT NULL DEFAULT ''
);
INSERT INTO "study_units" VALUES(1,1,1,NULL,'');
INSERT INTO "study_units" VALUES(2,1,2,NULL,'');
INSERT INTO "study_units" VALUES(3,1,3,NULL,'');
CREATE TABLE summaries (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE,
    final REAL, spread REAL, judges INTEGER NOT NULL, refused INTEGER NOT NULL, failed INTEGER NOT NULL, people REAL
);
INSERT INTO "summaries" VALUES(1,4.5,0.0,1,0,1,2.0);
INSERT INTO "summaries" VALUES(2,3.5,0.0,1,0,0,3.5);
INSERT INTO "summaries" VALUES(3,4.5,0.0,1,0,0,4.0);
CREATE TABLE verifications (
    id INTEGER PRIMARY KEY, judgement_id INTEGER NOT NULL REFERENCES judgements(id) ON DELETE CASCADE,
    rater_id INTEGER NOT NULL REFERENCES raters(id), finding TEXT NOT NULL CHECK (finding IN ('reasonable', 'too_high', 'too_low')),
    comment TEXT NOT NULL DEFAULT '', corrected REAL, created TEXT NOT NULL,
    UNIQUE (judgement_id, rater_id)
);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX conversations_by_player ON conversations (benchmark, language, player);
CREATE INDEX facets_of_conversation ON facets (conversation_id);
CREATE INDEX judgements_of_conversation ON judgements (conversation_id);
CREATE INDEX judgements_failed ON judgements (rater_id) WHERE failure IS NOT NULL;
CREATE UNIQUE INDEX study_units_once ON study_units (study_id, conversation_id, ifnull(turn, 0));
CREATE INDEX study_units_of_conversation ON study_units (conversation_id);
CREATE INDEX assignments_of_rater ON assignments (rater_id, position);
CREATE UNIQUE INDEX ratings_once ON ratings
    (conversation_id, rater_id, criterion, ifnull(turn, 0), repeat, ifnull(study_id, 0));
CREATE INDEX ratings_of_study ON ratings (study_id) WHERE study_id IS NOT NULL;
CREATE INDEX ratings_of_judgement ON ratings (judgement_id) WHERE judgement_id IS NOT NULL;
CREATE UNIQUE INDEX scores_once ON scores (conversation_id, rater_id, criterion, repeat, ifnull(study_id, 0));
CREATE INDEX scores_of_study ON scores (study_id) WHERE study_id IS NOT NULL;
CREATE INDEX summaries_by_final ON summaries (final);
CREATE INDEX summaries_by_spread ON summaries (spread);
CREATE INDEX summaries_refused ON summaries (refused) WHERE refused > 0;
CREATE INDEX summaries_failed ON summaries (failed) WHERE failed > 0;
CREATE INDEX scenarios_by_state ON scenarios (benchmark, kind, state);
CREATE INDEX comparisons_of_first ON comparisons (first_id);
CREATE INDEX comparisons_of_second ON comparisons (second_id);
CREATE INDEX comparisons_of_rater ON comparisons (rater_id);
CREATE INDEX verifications_of_rater ON verifications (rater_id);
COMMIT;
