"""models.toml: the models of a workspace, where they are served, their settings and prices."""

import inspect
import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from concord.configuration import Configuration
from concord.errors import ConfigError, not_found
from concord.files import extras, read_toml
from concord.files.limits import NAME
from concord.llm import keys
from concord.llm.schemas import Feature
from concord.rating import Spent

Kind = Literal["chat", "embeddings", "program"]
"""A chat model talks and judges; an embeddings model turns texts into vectors; a program judges by a rubric.
"""
Endpoint = tuple[str, str]
"""The address of models and the variable of their key; of a program, “program” and its name."""
_WRONG_KIND = {
    "chat": 'is an embeddings model (kind = "embeddings" in models.toml); it can neither talk nor judge. '
    "Choose another model.",
    "program": "is not a program.",
    "embeddings": 'is a chat model; vectors need a model with kind = "embeddings" in models.toml. '
    "Choose another model, or add one.",
}


UNSET = "unset"
"""The value of a parameter that is not sent, although the prompt has one."""

BENCHMARKS_KEY = "benchmarks"
"""The list in models.toml of the user's own benchmarks."""
AGENTS = "agents"
"""The list in models.toml of the user's own agents, which some benchmarks evaluate."""
CURRENCY = "currency"
"""What models.toml calls the currency of its prices by."""

Money = Annotated[float, Field(ge=0)]


class Price(BaseModel):
    """Money per million tokens in, out, and in from the endpoint's prompt cache (as in, unless stated).

    `batch` is the share of it that a call in a batch costs; None where it is not stated.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    input: Money
    output: Money
    cached: Money | None = None
    batch: Annotated[float, Field(ge=0, le=1)] | None = None

    def amount(self, tokens_in: int, tokens_out: int, cached: int = 0) -> float:
        """What tokens cost; the cached ones are among those given."""
        per_cached = self.input if self.cached is None else self.cached
        return ((tokens_in - cached) * self.input + cached * per_cached + tokens_out * self.output) / 1e6


_KEYS = {"key", "apikey", "subscriptionkey", "token", "accesstoken", "authtoken", "authorization", "auth"}
_KEYS |= {"password", "secret", "sig", "signature", "code"}
"""Names of parameters of an address that are keys, in small letters alone."""


def address(text: str) -> str:
    """An endpoint's address as it is. Raises ValueError, which does not quote it: it may hold a password."""
    extras.require("httpx2", purpose="An address of models.toml")
    from httpx2 import URL, InvalidURL

    try:
        url = URL(text)
        url.host.encode("idna")
    except (InvalidURL, UnicodeError):
        url = URL()
    valid = url.scheme in ("http", "https") and url.host and (url.port or 0) < 2**16
    if not valid or not text.isprintable() or " " in text:
        raise ValueError("is not an address; write it like https://api.openai.com/v1")
    if url.userinfo or _KEYS.intersection(map(_letters, url.params)):
        raise ValueError("holds credentials; put the key into an environment variable, named in api_key_env")
    return text


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


class FromEnvironment(BaseModel):
    """The value of a header that an environment variable holds, written `{ env = "MY_KEY" }`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    env: Annotated[str, AfterValidator(keys.variable)]


def headers_of(headers: dict[str, str | FromEnvironment]) -> dict[str, str | FromEnvironment]:
    """Headers as they are. Raises ValueError, which does not quote a value: it may be a key."""
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise ValueError("have a name that no header can have")
        if isinstance(value, FromEnvironment):
            continue
        if not value.isascii() or not value.isprintable():
            raise ValueError(f"have a value for “{name}” that no header can have")
        if keys.holds_key({name: value}) or _KEYS.intersection([*name.lower().split("-"), _letters(name)]):
            raise ValueError(
                "hold a key; put the key into an environment variable, named as in { api-key = { env = … } }"
            )
    return headers


def plain_number(value: float) -> int | float:
    """A whole number as one: TOML tells 4096 from 4096.0, and endpoints refuse the latter."""
    return int(value) if value == int(value) else value


def _letters(name: str) -> str:
    return re.sub("[^a-z]", "", name.lower())


class Model(BaseModel):
    """One entry of models.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: Annotated[str, Field(min_length=1, max_length=NAME)]
    kind: Kind = "chat"
    base_url: Annotated[str, AfterValidator(address)] | None = None
    api_key_env: Annotated[str, AfterValidator(keys.variable)] | None = None
    model: str = ""
    params: dict[str, Any] = {}
    """Parameters of a call, over those of the prompt; "unset" sends none, as `temperature = "unset"`."""
    rename: dict[str, str] = {}
    """Parameters under another name, as `{ max_tokens = "max_completion_tokens" }`."""
    at_most: dict[str, float] = {}
    """The highest values that the endpoint takes, as `{ max_tokens = 4096 }`."""
    at_least: dict[str, float] = {}
    """The lowest values that the endpoint takes, as `{ temperature = 0.01 }`."""
    system: Literal["native", "merge"] = "native"
    replies: Literal["json_schema", "json_object", "text"] = "json_schema"
    schema_without: tuple[Feature, ...] = ()
    """Features of schemas that the endpoint refuses."""
    headers: Annotated[dict[str, str | FromEnvironment], AfterValidator(headers_of)] = {}
    """Headers of each call, as `{ "api-key" = { env = "AZURE_KEY" } }`."""
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0)] = 300.0
    function: str = ""
    """The Python function of a program that judges, as `module:callable`."""
    seed: bool = False
    """Send a seed derived from the plan, for endpoints that honour it."""
    price: Price | None = None
    vision: bool = False
    """Whether it sees images; without it reads what stands for them in the text."""
    batch: bool = True
    """Whether `--batch` asks it through its endpoint's Batch API; else it is called."""
    family: Annotated[str, Field(max_length=NAME)] = ""
    """Whose model it is (“gpt”, “llama”), for whether judges prefer their own; it is not sent."""
    _function: Callable[..., Any] | None = PrivateAttr(default=None)

    @classmethod
    def calling(cls, name: str, function: Callable[..., Any]) -> "Model":
        """A judge that is a Python function of this process. Another text of it is another configuration."""
        try:
            text = inspect.getsource(function)
        except (OSError, TypeError):
            text = ""  # typed at a prompt, or not written in Python: its name alone tells it
        place = f"{function.__module__}:{getattr(function, '__qualname__', type(function).__qualname__)}"
        model = cls(name=name, kind="program", function=f"{place} {sha256(text.encode()).hexdigest()[:8]}")
        model._function = function
        return model

    def changed(self, **settings: Any) -> Self:
        """The model with other settings, which are not checked; what follows from them is computed anew."""
        copy = self.model_copy(update=settings)
        copy.__dict__.pop("configuration", None)
        return copy

    @property
    def python_function(self) -> Callable[..., Any] | None:
        """The function that judges in this process; None for other models."""
        return self._function

    @model_validator(mode="after")
    def _program(self) -> Self:
        if (self.kind == "program") != bool(self.function):
            raise ValueError('a function belongs to kind = "program", which needs one')
        return self

    @model_validator(mode="after")
    def _no_keys(self) -> Self:
        for setting in ("model", "base_url", "params", "rename", "family", "function"):
            if keys.holds_key(getattr(self, setting)):
                raise ValueError(
                    f"{setting} holds a key; put the key into an environment variable, named in api_key_env"
                )
        return self

    @property
    def simulated(self) -> bool:
        """Served by `concord mock`, not by a language model."""
        return self.served.startswith("mock-")

    @property
    def served(self) -> str:
        """Its name at the endpoint."""
        return self.model or self.name

    @property
    def endpoint(self) -> Endpoint:
        """Where its calls go: models with the same share one client and one limit."""
        if self.kind == "program":
            return ("program", self.name)
        return (self.base_url or "", self.api_key_env or "")

    @cached_property
    def configuration(self) -> Configuration:
        """What a result keeps of this entry, without a mock's address, which changes no answer."""
        if self.kind == "program":
            function_name = self.function
            return Configuration(
                self.name, "a program", function_name, self.kind, {}, self.system, self.replies
            )
        try:
            base = self.base_url or address(os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")
        except ValueError as error:
            raise ConfigError(f"The environment variable OPENAI_BASE_URL {error}.") from error
        bare = urlsplit(base)._replace(query="", fragment="").geturl()
        plain = {name: value for name, value in self.headers.items() if isinstance(value, str)}
        extra_settings = {
            "seed": "from the plan" if self.seed else None,
            "vision": self.vision,
            "rename": self.rename,
            "at_most": {name: plain_number(value) for name, value in self.at_most.items()},
            "at_least": {name: plain_number(value) for name, value in self.at_least.items()},
            "schema_without": [feature.value for feature in self.schema_without],
            "headers": plain,
        }
        return Configuration(
            self.name,
            "concord mock" if self.simulated else bare,
            self.served,
            self.kind,
            self.params | {name: value for name, value in extra_settings.items() if value},
            self.system,
            self.replies,
        )

    @property
    def asked_as(self) -> str:
        """What tells one endpoint and request form from another, for what is known of the endpoint."""
        identity = [self.configuration.hash, self.base_url or "", sorted(self.headers)]
        return sha256(json.dumps(identity).encode()).hexdigest()[:16]

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key; empty for a local endpoint that needs none."""
        return self.api_key_env or ("" if self.base_url or self.kind == "program" else "OPENAI_API_KEY")

    def key(self) -> str:
        """The key from the environment. Raises ConfigError if it is not set."""
        name = self.key_variable
        if not name:
            return "no-key-needed"
        return self._secret(name, "a key")

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that hold its key and secret headers."""
        secret = [value.env for value in self.headers.values() if isinstance(value, FromEnvironment)]
        return tuple(filter(None, dict.fromkeys([self.key_variable, *secret])))

    @property
    def unset(self) -> tuple[str, ...]:
        """The environment variables that should hold its key and secret headers, and hold nothing."""
        return tuple(name for name in self.variables if not os.environ.get(name))

    def sent_headers(self) -> dict[str, str]:
        """The headers of its entry with their values. Raises ConfigError if a variable is not set."""
        return {
            name: value if isinstance(value, str) else self._secret(value.env, f"the header {name}")
            for name, value in self.headers.items()
        }

    def _secret(self, variable: str, purpose: str) -> str:
        value = os.environ.get(variable, "")
        if not value:
            raise ConfigError(
                f"The model “{self.name}” needs {purpose}: set the environment variable {variable}."
            )
        if not value.isascii() or not value.isprintable():
            raise ConfigError(
                f"The environment variable {variable} of “{self.name}” holds characters that no header can "
                "have, such as a line break. Set it again."
            )
        return value

    def cost(self, tokens_in: int, tokens_out: int, cached: int = 0, *, batch: bool = False) -> float:
        """What tokens in, out and in from the cache cost, in a call or in a batch; 0 without a price."""
        if self.price is None:
            return 0.0
        share = self.price.batch if batch and self.price.batch is not None else 1.0
        return self.price.amount(tokens_in, tokens_out, cached) * share

    def usage(self, tokens: tuple[int, int, int], seconds: float, *, batch: bool = False) -> Spent:
        """One call: its tokens in, out and in from the cache, and what they cost."""
        tokens_in, tokens_out, cached = tokens
        cost = self.cost(tokens_in, tokens_out, cached, batch=batch)
        return Spent(1, tokens_in, tokens_out, cost, seconds, cached, unpriced=int(self.price is None))


def load_models(path: Path) -> dict[str, Model]:
    """The models of a workspace by name. Raises ConfigError naming the file, the entry and the mistake."""
    if not path.exists():
        return {}
    parsed = read_toml(path)
    entries = parsed.get("models", {})
    unknown = set(parsed) - {"models", BENCHMARKS_KEY, AGENTS, CURRENCY}
    if unknown or not isinstance(entries, dict):
        raise ConfigError(
            f"{path} may hold [models.NAME] tables, the lists `{BENCHMARKS_KEY}` and `{AGENTS}`, and "
            f"`{CURRENCY}` "
            "only; found "
            f"“{', '.join(sorted(unknown)) or 'models'}”."
        )
    models = {}
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise ConfigError(f"{path}: “{name}” must be a table, written [models.{name}].")
        models[name] = read_entry(path, name, entry)
    return models


def own_code(path: Path, kind: str) -> tuple[str, ...]:
    """What models.toml lists of the user's own as `module:name`, `BENCHMARKS_KEY` or `AGENTS`. Raises
    ConfigError.
    """
    if not path.exists():
        return ()
    specs = read_toml(path).get(kind, [])
    if not isinstance(specs, list) or not all(isinstance(one, str) for one in specs):
        raise ConfigError(f'{path}: `{kind}` is a list, written {kind} = ["module:name"] above all tables.')
    return tuple(specs)


def currency(path: Path) -> str:
    """What prices in models.toml are in, such as “USD”; empty where it does not say. Raises ConfigError."""
    value = read_toml(path).get(CURRENCY, "") if path.exists() else ""
    if not isinstance(value, str) or len(value) > 10:
        raise ConfigError(
            f'{path}: `{CURRENCY}` is a short text, written {CURRENCY} = "USD" above all tables.'
        )
    return value.strip()


def read_entry(path: Path, name: str, entry: Mapping[str, Any]) -> Model:
    """The model of one entry. Raises ConfigError naming the file, the entry and the mistake."""
    if "name" in entry:
        raise ConfigError(f"{path}: [models.{name}] is its name; remove the setting “name”.")
    if "api_key" in entry:
        raise ConfigError(
            f"{path}: [models.{name}] holds a key. "
            "Put it into an environment variable and name that in api_key_env."
        )
    try:
        return Model(name=name, **entry)
    except ValidationError as error:
        wrong = " ".join(_mistake(e) for e in error.errors())
        raise ConfigError(f"{path}: [models.{name}] {wrong}") from error


def _mistake(error: Mapping[str, Any]) -> str:
    """One mistake in an entry as a sentence."""
    setting = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        settings = Price.model_fields if "." in setting else Model.model_fields.keys() - {"name"}
        return str(not_found("setting", setting.rpartition(".")[2], settings))
    if setting == "price":
        return "“price” is written { input = 2.5, output = 10.0 }, per million tokens."
    message = error["msg"].removeprefix("Value error, ")
    if not setting:
        return f"{message}."
    return f"“{setting}”: {message[:1].lower()}{message[1:]}."


def pick(models: Mapping[str, Model], name: str, kind: Kind | None = "chat") -> Model:
    """A model by name. Raises NotFound, or ConfigError for one of another kind (None allows any)."""
    if name not in models:
        raise not_found("model", name, (n for n, m in models.items() if kind in (None, m.kind)))
    if kind is not None and models[name].kind == "program" != kind:
        raise ConfigError(f"“{name}” is a program, which can only judge by a rubric. Choose another model.")
    if kind is not None and models[name].kind != kind:
        raise ConfigError(f"“{name}” {_WRONG_KIND[kind]}")
    return models[name]
