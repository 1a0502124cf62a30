"""What pages count is kept as it changes, and is what going through the rows would give."""

from __future__ import annotations

from concord.conversation import Conversation, Message, Unit
from concord.rating import Comparison, Judgement, Rater, Rating, Spent
from concord.store import comparisons, conversations, ratings, summaries
from concord.store.conversations import Filter
from tests.derived import faults

DIALOGUE = (Message("user", "Hello?"), Message("assistant", "Aye."))
JUDGE = Rater("a judge", "judge")


def save(db, key: str, player: str = "alder", benchmark: str = "pingpong") -> int:
    return conversations.save(db, Conversation(benchmark, key, player, DIALOGUE), Spent(2, cost=0.5))


def judge(db, key: str, failure: str | None = None) -> None:
    given = () if failure else tuple(Rating(Unit(key, 1), name, 4.0) for name in ("wit", "sense"))
    judgement = Judgement(f"{key}|judge", key, JUDGE, given, failure=failure, spent=Spent(1, cost=0.25))
    ratings.save_judgement(db, judgement)


def kept(db) -> dict[str, list[tuple]]:
    return {
        table: db.execute(f"SELECT * FROM {table}").fetchall() for table in ("player_counts", "rater_counts")
    }


def test_counts_follow_what_is_added_replaced_and_removed(fresh):
    with fresh.write() as db:
        first, second, other = save(db, "a"), save(db, "b", "birch"), save(db, "c", benchmark="simulbench")
        judge(db, "a")
        judge(db, "b", failure="No JSON object.")
        comparisons.save(db, Comparison("a|b", "a", "b", JUDGE, "A", spent=Spent(1, cost=0.125)))
    with fresh.read() as db:
        number = ratings.find_rater(db, JUDGE)
        assert kept(db) == {
            "player_counts": [
                # A conversation of 2 calls, a judgement and a comparison of one.
                ("pingpong", "en", "alder", 1, 1, 4, 0.5 + 0.25 + 0.125, 0),
                ("pingpong", "en", "birch", 1, 0, 3, 0.5 + 0.25, 0),
                ("simulbench", "en", "alder", 1, 0, 2, 0.5, 0),
            ],
            "rater_counts": [(number, "pingpong", 1, 1)],
        }
        assert (ratings.total_spent(db).calls, ratings.total_spent(db).cost) == (9, 2.125)
        assert ratings.judges(db, "pingpong") == ratings.judges(db) == {JUDGE: number}
        assert ratings.judges(db, "simulbench") == {}
        assert conversations.count(db) == 3
        assert conversations.count(db, Filter("pingpong")) == 2
        assert comparisons.compared_benchmarks(db) == ["pingpong"]
    with fresh.write() as db:
        judge(db, "b")  # its failure cost 0.25 as well
        db.execute("DELETE FROM conversations WHERE id = ?", [first])
    with fresh.read() as db:
        assert kept(db) == {
            "player_counts": [
                ("pingpong", "en", "birch", 1, 1, 4, 0.5 + 2 * 0.25, 0),
                ("simulbench", "en", "alder", 1, 0, 2, 0.5, 0),
            ],
            "rater_counts": [(number, "pingpong", 1, 0)],
        }
        assert comparisons.compared_benchmarks(db) == []
    assert {second, other} == {2, 3}


def test_counts_are_computed_anew_with_the_sums(fresh):
    with fresh.write() as db:
        save(db, "a")
        judge(db, "a")
        before = kept(db)
        assert faults(db) == []
        db.execute("UPDATE player_counts SET conversations = 7")
        db.execute("UPDATE rater_counts SET rated = 7")
        assert [fault.split()[2] for fault in faults(db)] == ["player_counts", "rater_counts"]
        assert kept(db) == before


def test_what_work_cost_is_read_in_one_view_and_counted_anew_as_it_was(fresh):
    with fresh.write() as db:
        save(db, "a"), save(db, "b", "birch")
        judge(db, "a")
        comparisons.save(db, Comparison("a|b", "a", "b", JUDGE, "A", spent=Spent(1, cost=0.125)))
        rows = db.execute(
            "SELECT work, conversation_id, calls, cost FROM usage ORDER BY cost DESC, 2"
        ).fetchall()
        assert rows == [
            ("conversation", 1, 2, 0.5),
            ("conversation", 2, 2, 0.5),
            ("judgement", 1, 1, 0.25),
            ("comparison", 1, 1, 0.125),
        ]
        before = kept(db)
        summaries.refresh(db)
        assert kept(db) == before
