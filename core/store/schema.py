"""The form of the database: `schema.sql`, and the steps that bring a database of an earlier form up to it.

To change the form, change `schema.sql`, raise its `user_version`, and append to `STEPS` the SQL that does the
same to a database of the form before. A released step is never edited.
"""

from pathlib import Path
from sqlite3 import complete_statement

from sqlite_utils import Database

from concord.errors import WorkspaceError

SCHEMA = Path(__file__).with_name("schema.sql")
STEPS: tuple[str | Path, ...] = (
    # Images; gold labels as a kind of rater; registrations are gone. A constraint is no content: SQLite's
    # documentation of ALTER TABLE changes it so.
    """
    CREATE TABLE IF NOT EXISTS images (name TEXT PRIMARY KEY, body BLOB NOT NULL);
    DROP VIEW IF EXISTS registrations;
    DROP INDEX IF EXISTS registrations_of_study;
    DELETE FROM documents WHERE kind = 'registration';
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, '(''human'', ''judge'')', '(''human'', ''judge'', ''gold'')')
    WHERE name = 'raters';
    UPDATE sqlite_schema SET sql = replace(sql, '(''prompt'', ''rubric'', ''registration'')',
    '(''prompt'', ''rubric'')') WHERE name = 'documents';
    PRAGMA writable_schema = RESET;
    """,
    SCHEMA.with_name("form_3.sql"),
    # How many items somebody of a crowd platform had when their time was over; questions that depend on an
    # answer.
    """
    ALTER TABLE crowd_workers ADD COLUMN dealt INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE criteria ADD COLUMN asked_when TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE criteria ADD COLUMN explain TEXT NOT NULL DEFAULT 'null';
    """,
    # At how many items the verdict of a study was read.
    """
    CREATE TABLE looks (
        id INTEGER PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
        criterion TEXT NOT NULL,
        items INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        looked TEXT NOT NULL,
        UNIQUE (study_id, criterion, items)
    );
    """,
    # Codes of a crowd's link for failed attention and screen-out; languages and skills of annotators.
    """
    ALTER TABLE crowd_links ADD COLUMN failed_code TEXT NOT NULL DEFAULT '';
    ALTER TABLE crowd_links ADD COLUMN screen_out_code TEXT NOT NULL DEFAULT '';
    ALTER TABLE crowd_links ADD COLUMN misses INTEGER NOT NULL DEFAULT 2;
    CREATE TABLE annotator_labels (
        rater_id INTEGER NOT NULL REFERENCES raters(id) ON DELETE CASCADE,
        label TEXT NOT NULL,
        PRIMARY KEY (rater_id, label)
    );
    """,
    SCHEMA.with_name("form_7.sql"),
    SCHEMA.with_name("form_8.sql"),
    SCHEMA.with_name("form_9.sql"),
    SCHEMA.with_name("form_10.sql"),
    SCHEMA.with_name("form_11.sql"),
    SCHEMA.with_name("form_12.sql"),
    # Conversations with a reply that was cut are found without reading the others.
    "CREATE INDEX conversations_cut ON conversations (cut_replies) WHERE cut_replies > 0;",
)
"""SQL, or a file of it: the first leads from form 1 to form 2."""


def latest() -> int:
    """The number of the present form."""
    return 1 + len(STEPS)


def version(db: Database, path: Path) -> int:
    """The number of a database's form, 0 if it is empty. Raises WorkspaceError for one that is not known."""
    number = int(db.execute("PRAGMA user_version").fetchone()[0])
    if "_sqlite_migrations" in (tables := db.table_names()):
        raise WorkspaceError(
            f"{path} was made before Concord 0.1.0, which does not read it. Export it with the Concord that "
            "made it: `concord export conversations`, `concord export ratings` and `concord export "
            "comparisons` write files that a new workspace imports."
        )
    if tables and not (number and "conversations" in tables):
        raise WorkspaceError(f"{path} was made by another program. Open another workspace.")
    if number > latest():
        raise WorkspaceError(
            f"{path} was written by a newer Concord (its form is {number}, this one knows up to {latest()}). "
            "Update Concord, or open another workspace."
        )
    return number


def apply(db: Database, number: int) -> None:
    """Give a database of this form (0: an empty one) the present form, within the open transaction."""
    scripts = [SCHEMA] if number == 0 else STEPS[number - 1 :]
    for script in scripts:
        if isinstance(script, Path):
            script = script.read_text(encoding="utf-8")
        # Each statement by itself: `executescript` would commit the transaction.
        statement = ""
        for line in [*script.splitlines(keepends=True), ";"]:
            statement += line
            if complete_statement(statement):
                db.execute(statement)
                statement = ""
    db.execute(f"PRAGMA user_version = {latest()}")
