"""Libraries that the extras of the package bring: one sentence where such a library is not installed."""

from importlib.util import find_spec

from concord.codes import ErrorCode
from concord.errors import ConcordError

DISTRIBUTION = "concord-eval"


class MissingExtra(ConcordError, ImportError):
    """What was asked needs a library of an extra; the message has the command that installs it."""

    code = ErrorCode.MISSING_EXTRA


def installed(module: str) -> bool:
    """Whether a library can be imported; it is not imported for that."""
    return find_spec(module) is not None


def require(*modules: str, purpose: str) -> None:
    """Check that these modules of the extra `app` are installed. `purpose`, a subject, is what needs them.

    Raises MissingExtra, a sentence with the command that installs them.
    """
    missing = [module for module in modules if not installed(module)]
    if missing:
        raise MissingExtra(
            f"{purpose} needs the app ({', '.join(missing)}), which is not installed: "
            f"pip install '{DISTRIBUTION}[app]' (in a checkout: pip install '.[app]')."
        )
