"""What is decided, as codes: stored, counted and compared; their words are written where they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

PLAYERS = ("player", "model")
"""The group of items by who wrote them: the player of a benchmark in which models play, else the model."""


class Retry(StrEnum):
    """Whether an attempt of a call that failed is made again, and what the next one waits for."""

    NEVER = "never"
    AGAIN = "again"
    """A few times, after a pause that doubles."""
    THROTTLED = "throttled"
    """Until the endpoint's limit of calls allows it; costs no retry."""
    DOWN = "down"
    """Until the endpoint is there; costs no retry while it answers nothing."""


class Scorer(StrEnum):
    """Who gave a score that a file holds."""

    HUMAN = "human"
    JUDGE = "judge"
    CODE = "code"
    """A program, such as a comparison with the reference: a judge whose name says so."""
    UNKNOWN = "unknown"
    """The file does not say it, and it is asked."""


class Failure(StrEnum):
    """Why a call, or the piece of work that made it, gave nothing. `EFFECTS` says what each one does."""

    KEY_REFUSED = "key_refused"
    FORBIDDEN = "forbidden"
    """403 of an endpoint that has never answered this model: the key, the region, the organisation."""
    NO_CREDIT = "no_credit"
    UNKNOWN_MODEL = "unknown_model"
    BAD_REQUEST = "bad_request"
    FORM_REFUSED = "form_refused"
    """A part of the request in every form that Concord knows, or one that the endpoint took before."""
    REDIRECTED = "redirected"
    OVERSIZED = "oversized"
    """An answer of more bytes than are read."""
    REFUSED = "refused"
    """A filter, a moderation or a firewall refuses this request; the endpoint answers others."""
    CONTEXT_EXCEEDED = "context_exceeded"
    RATE_LIMIT = "rate_limit"
    UNREACHABLE = "unreachable"
    UNAVAILABLE = "unavailable"
    SERVER = "server"
    TIMEOUT = "timeout"
    LOST_WORKER = "lost_worker"
    FOREIGN_BODY = "foreign_body"
    """A body of status 200 that is no answer."""
    UNPARSEABLE = "unparseable"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    UNEXPECTED = "unexpected"

    @classmethod
    def _missing_(cls, value: object) -> Failure | None:
        """The code of a name that workspaces of earlier versions hold."""
        return EARLIER.get(value) if isinstance(value, str) else None

    @property
    def stored(self) -> tuple[str, ...]:
        """The names under which workspaces hold it, its own first."""
        return (self.value, *(name for name, code in EARLIER.items() if code is self))

    @property
    def retry(self) -> Retry:
        """Whether the client makes the attempt again."""
        return EFFECTS[self].retry

    @property
    def stops_model(self) -> bool:
        """Whether every other call to the model would fail as well: a run makes none."""
        return EFFECTS[self].stops_model

    @property
    def maybe_paid(self) -> bool:
        """Whether the endpoint may bill the call although its answer is not there."""
        return EFFECTS[self].maybe_paid

    @property
    def on_demand(self) -> bool:
        """Whether it is the result of this piece of work: a later run tries it again only when told to."""
        return EFFECTS[self].on_demand

    @property
    def of_endpoint(self) -> bool:
        """Whether several in a row say that the endpoint no longer answers the model."""
        return not self.on_demand


NOT_ASKED = "not_asked"
"""The class of a judgement that failed without a call: the rubric asks nothing of the conversation."""


class Effect(NamedTuple):
    """What a failure does. By default it fails at once, alone and unpaid, and the next run tries again."""

    retry: Retry = Retry.NEVER
    stops_model: bool = False
    maybe_paid: bool = False
    on_demand: bool = False


EFFECTS: Mapping[Failure, Effect] = {
    Failure.KEY_REFUSED: Effect(stops_model=True),
    Failure.FORBIDDEN: Effect(stops_model=True),
    Failure.NO_CREDIT: Effect(stops_model=True),
    Failure.UNKNOWN_MODEL: Effect(),
    Failure.BAD_REQUEST: Effect(),
    Failure.FORM_REFUSED: Effect(stops_model=True),
    Failure.REDIRECTED: Effect(),
    Failure.OVERSIZED: Effect(maybe_paid=True),
    Failure.REFUSED: Effect(on_demand=True),
    Failure.CONTEXT_EXCEEDED: Effect(on_demand=True),
    Failure.RATE_LIMIT: Effect(Retry.THROTTLED),
    Failure.UNREACHABLE: Effect(Retry.DOWN),
    Failure.UNAVAILABLE: Effect(Retry.DOWN),
    Failure.SERVER: Effect(Retry.AGAIN),
    Failure.TIMEOUT: Effect(Retry.AGAIN, maybe_paid=True),
    Failure.LOST_WORKER: Effect(Retry.AGAIN, maybe_paid=True),
    Failure.FOREIGN_BODY: Effect(Retry.AGAIN),
    Failure.UNPARSEABLE: Effect(on_demand=True),
    Failure.TRUNCATED: Effect(on_demand=True),
    Failure.EMPTY: Effect(on_demand=True),
    Failure.UNEXPECTED: Effect(on_demand=True),
}

EARLIER: Mapping[str, Failure] = {"auth": Failure.KEY_REFUSED, "unparsable": Failure.UNPARSEABLE}
"""Names of failures in workspaces of earlier versions."""

ON_DEMAND: tuple[Failure, ...] = tuple(failure for failure in Failure if failure.on_demand)
"""Failures that are the result of a piece of work: a later run tries them again only when told to."""


class ErrorCode(StrEnum):
    """What kind of error ended a command. An error of a call to a model has its `Failure` instead."""

    FAILED = "failed"
    """None of the others; the message says what and what to do."""
    USAGE = "usage"
    """A mistake in the call: an unknown command or option, or a value that an option does not take."""
    CONFIGURATION = "configuration"
    WORKSPACE = "workspace"
    DATABASE_REPLACED = "database_replaced"
    NOT_FOUND = "not_found"
    IMPORT_REFUSED = "import_refused"
    STUDY = "study"
    NOT_ALLOWED = "not_allowed"
    RUN_STOPPED = "run_stopped"
    MISSING_EXTRA = "missing_extra"
    """A package that is not installed; the message has the command that installs it."""
    BUSY = "busy"
    """Another process works on the same partition."""


class Exclusion(StrEnum):
    """Why an item that people rated does not enter a figure of a judge or a panel."""

    CLOSED = "closed"
    """Judges are not compared on it, such as on a refused conversation."""
    NO_ANSWER = "no_answer"
    """A judge of the panel has no answer to it."""
    ONE_ANNOTATOR = "one_annotator"
    """No other annotator rated it, so that none can be held out."""
    ANNOTATORS_TIE = "annotators_tie"
    """Annotators' answers share the first place."""
    FEW_IN_COMMON = "few_in_common"
    """Its annotators have too few such items, or answers that do not vary."""


class GateOutcome(StrEnum):
    """What a gate decided."""

    PASSED = "passed"
    BELOW = "below"
    """The lower end of the interval is below the least agreement."""
    UNKNOWN = "unknown"
    """The agreement is undefined, or has no interval."""


class DriftOutcome(StrEnum):
    """What two judgements of the same items show."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW = "too_few"


class StreamFigure(StrEnum):
    """What is followed of a stream of judgements."""

    AGREEMENT = "agreement"
    """The share of equal answers of judge and people; of scores 1 less their distance."""
    JUDGE_MEAN = "judge_mean"
    """The judge's mean, of two answers its pass rate."""
    CORRECTED_MEAN = "corrected_mean"
    """The mean that people would give."""


class StreamState(StrEnum):
    """Where a figure of a stream is, with the range that it should keep to."""

    WITHIN = "within"
    """Shown to lie in its range."""
    OUTSIDE = "outside"
    """Shown to have left its range."""
    CHANGED = "changed"
    """Shown to have changed: it has not left its range, or has none."""
    INCONCLUSIVE = "inconclusive"
    NO_RANGE = "no_range"


FINDINGS = (StreamState.OUTSIDE, StreamState.CHANGED)
"""States of a stream that somebody has to look at."""


class CellPattern(StrEnum):
    """How an answer is written in the cells of a column."""

    PLAIN = "plain"
    OUT_OF = "out_of"
    """“4/5”, “4 out of 5”."""
    NAMED = "named"
    """“Score: 4”."""
    BRACKETED = "bracketed"
    """“[[4]]”, “(B)”, “**pass**”, quotes."""
    UNIT = "unit"
    """“4 stars”."""
    SIGNS = "signs"
    """“★★★★☆”."""
    CALL = "call"
    """“np.float64(4.0)”."""
    OBJECT = "object"
    """A JSON object, also in a fence."""
    MEMBER = "member"
    """“Verdict.PASS”."""
    NUMBERED = "numbered"
    """“1 - poor”."""
    REASONED = "reasoned"
    """“PASS: it is complete”."""
    SET = "set"
    """Several labels, in any order."""


class ColumnRole(StrEnum):
    """What a column of a table is."""

    ID = "id"
    RATER = "rater"
    """It holds one rater's answers."""
    RATERS = "raters"
    """It names the rater of every row."""
    KIND = "kind"
    SCORE = "score"
    CRITERION = "criterion"
    REPEAT = "repeat"
    GROUP = "group"
    TEXT = "text"
    ABOUT = "about"
    """It says something about an answer, a rater or an item."""
    COMPUTED = "computed"
    """It is computed from those of raters."""
    OTHER = "other"


class RoleReason(StrEnum):
    """Why a column has its role."""

    STATED = "stated"
    NAMED = "named"
    NAME_ABOUT = "name_about"
    NAME_COMPUTED = "name_computed"
    EQUALS_COMPUTED = "equals_computed"
    OTHER_VALUES = "other_values"
    TEXT_VALUES = "text_values"
    LIKE_INDEX = "like_index"
    EMPTY = "empty"
    CONSTANT = "constant"
    UNNAMED = "unnamed"


class Layout(StrEnum):
    """How a table holds its ratings."""

    OWN = "own"
    WIDE = "wide"
    """A row an item, a column a rater."""
    CRITERION_ROWS = "criterion_rows"
    """A row an item and criterion, a column a rater."""
    RATING_ROWS = "rating_rows"
    """A row a rating."""
    RATER_ROWS = "rater_rows"
    """A row an item and rater, a column a criterion."""
    TRANSPOSED = "transposed"
    """A row a rater, a column an item."""
    MOLTEN = "molten"
    """A row a cell: what its column is called, and its value."""


class PairNote(StrEnum):
    """What was read of pairs: which two a row is about, and what was shown first."""

    NAMES = "names"
    """Answers are the names of the two."""
    SIDES = "sides"
    """Rows of one id with the same two are one pair."""
    ORDER = "order"
    """A column says what was shown first."""
    PLACES = "places"
    """Answers name places, whoever is there."""
    ANSWERS = "answers"
    """Answers name the two, whatever was shown first."""
    SECOND_PLACES = "second_places"
    """A judge's second column has the other order, and answers that name places."""
    SECOND_ANSWERS = "second_answers"
    ONE_HOT = "one_hot"
    """Columns of 0 and 1, one a side, are read as one."""
    COPY = "copy"
    """A column says by place what another says by name."""


class Computation(StrEnum):
    """What a column may be computed by."""

    MEAN = "mean"
    MEDIAN = "median"
    SUM = "sum"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MAJORITY = "majority"
    DIFFERENCE = "difference"
    EQUALITY = "equality"
    SCALE = "scale"
    WEIGHTED = "weighted"


class Domain(StrEnum):
    """What the cells of a column are."""

    EMPTY = "empty"
    NUMBERS = "numbers"
    TWO = "two"
    """Words that pass and words that fail."""
    WORDS = "words"
    TEXT = "text"
    """Too long or too different for answers."""


class RequestPart(StrEnum):
    """A part of a request that some endpoints refuse."""

    LIMIT = "max_tokens"
    TEMPERATURE = "temperature"
    TOP_P = "top_p"
    FREQUENCY_PENALTY = "frequency_penalty"
    PRESENCE_PENALTY = "presence_penalty"
    SEED = "seed"
    THINKING = "enable_thinking"
    SYSTEM = "system"
    """The role of instructions."""
    FORMAT = "response_format"
    STOP = "stop"
    """Sequences that end a reply."""
    OTHER = "other"
    """A parameter of the entry or the prompt that no endpoint is known to refuse."""


class Verdict(StrEnum):
    """How a judge or a panel compares with another annotator, who is held out.

    `AS_GOOD`: shown to lie within the margin. `SLIGHTLY_BELOW`: within the margin, and shown to be lower.
    `WORSE`: shown to be lower, and not within the margin. `INCONCLUSIVE`: none of these is shown. `TOO_FEW`:
    no interval. `UNDEFINED`: no figure.
    """

    AS_GOOD = "as_good"
    SLIGHTLY_BELOW = "slightly_below"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW = "too_few"
    UNDEFINED = "undefined"


GOOD = (Verdict.AS_GOOD, Verdict.SLIGHTLY_BELOW)
"""Verdicts that are shown to lie within the margin."""


class Advice(StrEnum):
    """What to do about judges on a criterion."""

    USE = "use"
    KEEP_ANNOTATORS = "keep_annotators"
    DO_NOT_USE = "do_not_use"
    LABEL_MORE = "label_more"
    ADD_ANNOTATOR = "add_annotator"
    NAME_ANNOTATORS = "name_annotators"
    REPAIR_QUESTION = "repair_question"
    CHECK_COPY = "check_copy"
    CHECK_DIRECTION = "check_direction"
    CHECK_ANNOTATOR = "check_annotator"
    EXCLUDE_JUDGE = "exclude_judge"
    NONE = "none"


class UseCondition(StrEnum):
    """What the use of a judge is tied to."""

    CORRECT_LEVEL = "correct_level"
    FILL_GAPS = "fill_gaps"
    EXCEPT_GROUP = "except_group"
    """The judge is shown to fail on a group of items."""


class Unknown(StrEnum):
    """What a study does not show, and a reader of its verdict has to know."""

    ONE_DECIDES = "one_annotator_decides"
    ONE_ANNOTATOR = "one_annotator"
    NOT_COMPARED = "not_compared"
    OTHER_ANNOTATORS = "other_annotators"
    PRELIMINARY = "preliminary"
    """Assigned ratings are still open."""


class Shown(StrEnum):
    """Whether a difference is shown, its error shared with all others of its table."""

    SHOWN = "shown"
    NOT_SHOWN = "not_shown"


class Claim(StrEnum):
    """A kind of finding that a report words, the most serious flags first."""

    VERDICT = "verdict"
    OTHER_JUDGES = "other_judges"
    TOLD_APART = "told_apart"
    CONSTANT = "constant"
    TURNED_ROUND = "turned_round"
    COPY = "copy"
    ALONE = "agrees_with_nobody"
    ONE_ANSWER = "one_answer"
    FEW = "few"
    RARE = "rare"
    WEAKENS_PANEL = "weakens_panel"
    GROUP = "group"
    POSITION = "position"
    OWN_FAMILY = "own_family"
    LENGTH = "length"
    IGNORES_LENGTH = "ignores_length"
    COMPRESSES = "compresses"
    LACKS_RATINGS = "lacks_ratings"
    CARELESS = "careless"
    GOLD = "gold"
    REPEATS = "repeats"
    LEVEL = "level"
    EQUAL = "equal"
    TOO_FAST = "too_fast"
    ATTENTION = "attention"
    INCOMPLETE = "incomplete"
    SCALE = "scale"
    WEIGHTED = "weighted"


class PlanFigure(StrEnum):
    """What labels are planned for."""

    AGREEMENT = "agreement"
    """Kappa of two answers and categories, Spearman's ρ of scores."""
    RATE = "rate"
    """The pass rate, or the mean, that people would give to all items: the judge's, corrected."""
    SENSITIVITY = "sensitivity"
    SPECIFICITY = "specificity"
    ANNOTATOR = "annotator"
    """Whether the judge is as good as another annotator."""


class SystemOrder(StrEnum):
    """How the first of two systems compares with the second, as people would say."""

    HIGHER = "higher"
    LOWER = "lower"
    INCONCLUSIVE = "inconclusive"
    UNCORRECTED = "uncorrected"
    """Too few labels: the difference is the judge's alone."""


class CrowdOutcome(StrEnum):
    """How somebody's work for a crowd platform ended."""

    AT_WORK = "at work"
    COMPLETED = "completed"
    MISSED_ATTENTION = "missed attention"
    """All is done, with so many attention checks missed as the link's terms say."""
    SCREENED_OUT = "screened out"
    """They failed the training."""
    TIMED_OUT = "timed out"


class Reach(StrEnum):
    """Who can open an address of the app."""

    MACHINE = "machine"
    NETWORK = "network"
    ANYWHERE = "anywhere"


class LabelDraw(StrEnum):
    """How the items that people label are drawn."""

    RANDOM = "random"
    BY_ANSWER = "by_answer"
    """So many of each of the judge's answers, with weights."""


class LakeWarning(StrEnum):
    """In what files that were judged are unlike people's sample of them, or what else an estimate has."""

    UNLIKE_SCORES = "unlike_scores"
    UNLIKE_LENGTHS = "unlike_lengths"
    UNLIKE_GROUPS = "unlike_groups"
    NO_VALUE = "no_value"
    SEVERAL_CONFIGURATIONS = "several_configurations"
    SEVERAL_MODELS = "several_models"


class LakeDraw(StrEnum):
    """How people's sample is drawn from a lake."""

    RANDOM = "random"
    BY_ANSWER = "by_answer"
    """More where the judge gives the rarer answer."""
    DIFFERENCE = "difference"
    """More where judges differ."""


class IntervalMethod(StrEnum):
    """How the interval of a mean is found from its resamples."""

    PADDED = "padded"
    """One more value at each end of the scale, then Student's t: it has width where all values are equal."""
    PERCENTILE = "percentile"
    """From the 2.5th to the 97.5th percentile, as papers print it; too narrow for few or skewed values."""


class ItemContext(StrEnum):
    """What an annotator sees with an item."""

    NOTHING = ""
    KNOWN_ANSWER = "known_answer"
    """Once the item is submitted."""
    ANSWERS = "answers"
    """All annotators' answers, without names."""
    JUDGE = "judge"
    """The judge's score and reasons."""


class Tab(StrEnum):
    """The tabs of the page Agreement, as its address has them."""

    JUDGES = "judges"
    PANELS = "panels"
    FAILS = "fails"
    FAVOURS = "favours"
    RATERS = "raters"


class AnswerLevel(StrEnum):
    """What kind of answers a criterion has."""

    SCORES = "scores"
    TWO = "two"
    """Two answers with an order, such as fail and pass."""
    CATEGORIES = "categories"
    """Answers without an order, and sets of labels."""


class Scope(StrEnum):
    """What the tables of a section are about."""

    CRITERION = "criterion"
    STUDY = "study"
    """All criteria, side by side."""


class PublishedMeasure(StrEnum):
    """What a published figure measures."""

    ALPHA = "alpha"
    """Krippendorff's ordinal alpha of annotators."""
    PANEL = "panel"
    """Spearman's ρ of the panel of all judges with annotators' mean."""
    BEST_JUDGE = "best_judge"
    """The highest such ρ of a single judge."""
    AGAINST = "against"
    """Spearman's ρ of a leaderboard with another benchmark's ranking."""


class AuditAct(StrEnum):
    """What a line of the audit log says was done."""

    DRAW = "drawn"
    DEAL = "dealt"
    INVITED = "invited"
    LINK_WITHDRAWN = "link_withdrawn"
    LET_IN = "let_in"
    """A researcher or an adjudicator; the line's target is the role."""
    LABELS_SET = "labels_set"
    NAME_REMOVED = "name_removed"
    GUIDELINES_REPLACED = "guidelines_replaced"
    GOLD_ITEMS_SET = "gold_items_set"
    TRAINING_ITEMS_SET = "training_items_set"
    TRAINING_SET = "training_set"
    """The rule by which a training is passed."""
    EXTRA_SET = "extra_set"
    """When an item gets an extra rater."""
    ADJUDICATION_SET = "adjudication_set"
    REPEATS_SET = "repeats_set"
    MATCH_SET = "match_set"
    REVEAL_SET = "reveal_set"
    """Whose scores annotators are shown."""
    DISCUSSION_SET = "discussion_set"
    CLOSED = "closed"
    REOPENED = "reopened"
    REASSIGNED = "reassigned"
    RETURNED = "returned"
    PASS = "passed"
    FAILED = "failed"
    ADMITTED = "admitted"
    OPENED_TO_A_CROWD = "opened_to_a_crowd"
    EXCLUDED = "excluded"
    INCLUDED = "included"
    PARTS_DIVIDED = "parts_divided"
    VARIANT_KEPT = "variant_kept"
    INSTRUCTIONS_PROPOSED = "instructions_proposed"
    TEST_PART_OPENED = "test_part_opened"
    VERSION_ADOPTED = "version_adopted"
    SCENARIO_PROPOSED = "scenario_proposed"
    """Of scenarios the line's target is their kind."""
    SCENARIO_ACCEPTED = "scenario_accepted"
    SCENARIO_REJECTED = "scenario_rejected"
    SCENARIO_DISCARDED = "scenario_discarded"
    SCENARIOS_BROUGHT = "scenarios_brought"
    SCENARIOS_REMOVED = "scenarios_removed"
    TOXICITY_SCORED = "toxicity_scored"
    FILES_IMPORTED = "files_imported"
    """Into the data folder of the workspace; the line's target is what, such as tasks."""
    IMPORT_REMOVED = "import_removed"
    EXPORTED = "exported"
    """The line's target is what was exported."""
    MODEL_ADDED = "model_added"
    MODEL_CHANGED = "model_changed"
    MODEL_REMOVED = "model_removed"
    CURRENCY_SET = "currency_of_prices_set"
    MODELS_RESTORED = "models_changed_back"


STUDY_ACTS = (
    AuditAct.CLOSED,
    AuditAct.REOPENED,
    AuditAct.REASSIGNED,
    AuditAct.RETURNED,
    AuditAct.PASS,
    AuditAct.FAILED,
    AuditAct.ADMITTED,
    AuditAct.OPENED_TO_A_CROWD,
    AuditAct.EXCLUDED,
    AuditAct.INCLUDED,
)
"""Acts on a study while people rate it, which need a reason."""
