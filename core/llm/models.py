"""One async client for every OpenAI-compatible endpoint: models.toml, limits, retries, cost, errors as sentences."""

from __future__ import annotations

import asyncio
import json
import os
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.conversation import Message
from core.errors import CallFailed, ConfigError, not_found
from core.llm import embeddings
from core.llm.embeddings import BadVectors, Vector
from core.rating import NOTHING_SPENT, Spent

if TYPE_CHECKING:
    from openai import AsyncOpenAI

RETRIES = 5
"""How often the client repeats a call that met a full or broken endpoint: 0.5 s doubling to 8 s with jitter, or as Retry-After says."""
REASKS = 2
"""How often a call is repeated whose vectors are of no use."""

Kind = Literal["chat", "embeddings"]
"""What a model does: it talks and judges, or it turns texts into vectors."""


class Price(BaseModel):
    """Money per million tokens."""

    model_config = ConfigDict(extra="forbid")
    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


class Model(BaseModel):
    """One entry of models.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    kind: Kind = "chat"
    base_url: str | None = None
    api_key_env: str | None = None
    model: str = ""
    params: dict[str, Any] = {}
    system: Literal["native", "merge"] = "native"
    replies: Literal["json_schema", "json_object", "text"] = "json_schema"
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0)] = 300.0
    seed: bool = False
    """Send a seed derived from the plan, for endpoints that honour it."""
    price: Price | None = None

    @property
    def simulated(self) -> bool:
        """Served by `concord mock`, not by a language model."""
        return self.served.startswith("mock-")

    @property
    def served(self) -> str:
        """The name the endpoint knows it by."""
        return self.model or self.name

    @property
    def endpoint(self) -> tuple[str, str]:
        """What shares one client and one limit: address and key."""
        return (self.base_url or "", self.api_key_env or "")

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key; empty for an endpoint of one's own that needs none."""
        return self.api_key_env or ("" if self.base_url else "OPENAI_API_KEY")

    def key(self) -> str:
        """The key from the environment. Raises ConfigError where it is not set."""
        name = self.key_variable
        if not name:
            return "no-key-needed"
        if not os.environ.get(name):
            raise ConfigError(f"The model “{self.name}” needs a key: set the environment variable {name}.")
        return os.environ[name]

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost; 0 where no price is given."""
        if self.price is None:
            return 0.0
        return (input_tokens * self.price.input + output_tokens * self.price.output) / 1e6


def load_models(path: Path) -> dict[str, Model]:
    """The models of a workspace by name. Raises ConfigError naming the file, the entry and what is wrong with it."""
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Mend that line.") from error
    entries = parsed.get("models", {})
    unknown = set(parsed) - {"models"}
    if unknown or not isinstance(entries, dict):
        raise ConfigError(
            f"{path} may hold [models.NAME] tables only; found “{', '.join(sorted(unknown)) or 'models'}”."
        )
    models = {}
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise ConfigError(f"{path}: “{name}” must be a table, written [models.{name}].")
        if "api_key" in entry:
            raise ConfigError(
                f"{path}: [models.{name}] holds a key. Put it into an environment variable and name that in api_key_env."
            )
        try:
            models[name] = Model(name=name, **entry)
        except ValidationError as error:
            wrong = " ".join(_mistake(e) for e in error.errors())
            raise ConfigError(f"{path}: [models.{name}] {wrong}") from error
    return models


def _mistake(error: Mapping[str, Any]) -> str:
    """One mistake in an entry as a sentence."""
    setting = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        known = Price.model_fields if "." in setting else Model.model_fields.keys() - {"name"}
        return str(not_found("setting", setting.rpartition(".")[2], known))
    if setting == "price":
        return "“price” is written { input = 2.5, output = 10.0 }, per million tokens."
    return f"“{setting}”: {error['msg'][:1].lower()}{error['msg'][1:]}."


def pick(models: Mapping[str, Model], name: str, kind: Kind | None = "chat") -> Model:
    """A model by name. Raises NotFound with the nearest name, ConfigError for one of another kind (None: whatever it is)."""
    if name not in models:
        raise not_found("model", name, (n for n, m in models.items() if kind in (None, m.kind)))
    model = models[name]
    if kind == "chat" and model.kind != kind:
        raise ConfigError(
            f'“{name}” turns texts into vectors (kind = "embeddings" in models.toml); it can neither talk nor judge. Name another model.'
        )
    if kind == "embeddings" and model.kind != kind:
        raise ConfigError(
            f'“{name}” talks; vectors need a model that models.toml says is of kind = "embeddings". Name another, or add one.'
        )
    return model


@dataclass(frozen=True)
class Completion:
    """What an endpoint answered. `cut` says it stopped at the token limit."""

    text: str
    cut: bool
    spent: Spent


@dataclass(frozen=True)
class Embedded:
    """The vectors of some texts, in their order."""

    vectors: list[Vector]
    spent: Spent


class Client:
    """Calls models. Belongs to one event loop: make it inside the loop that uses it, as `async with Client(models)`."""

    def __init__(self, models: Mapping[str, Model], *, retries: int | None = None):
        self._models = models
        self._retries = RETRIES if retries is None else retries
        self._clients: dict[tuple[str, str], AsyncOpenAI] = {}
        self._limits = {endpoint: asyncio.Semaphore(n) for endpoint, n in limits(models.values()).items()}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            await client.close()

    async def complete(
        self,
        name: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> Completion:
        """One reply. `schema` is the JSON schema asked for, as far as the endpoint supports it. Raises CallFailed for good failures only."""
        model = pick(self._models, name)
        body = request(model, messages, params=params, schema=schema, seed=seed)
        started = time.perf_counter()
        content = await self._post(model, "/chat/completions", body)
        return _completion(content, model, time.perf_counter() - started)

    async def embed(self, name: str, texts: Sequence[str]) -> Embedded:
        """The vectors of texts, none of them empty, in one call; asked for again up to REASKS times where they are of no use.

        Raises CallFailed, of kind "unparsable" with the last reply where they stay so.
        """
        model = pick(self._models, name, "embeddings")
        body = {"model": model.served, "input": list(texts), **model.params}
        spent, problem, content = NOTHING_SPENT, "", b""
        for _ in range(1 + REASKS):
            started = time.perf_counter()
            content = await self._post(model, "/embeddings", body)
            read = embeddings.tokens(content)
            spent += Spent(1, read, 0, model.cost(read, 0), time.perf_counter() - started)
            try:
                return Embedded(embeddings.read(content, len(texts)), spent)
            except BadVectors as error:
                problem = str(error)
        raise CallFailed(
            f"“{name}” gave no usable vectors in {1 + REASKS} attempts. {problem}. Does its endpoint offer embeddings?",
            kind="unparsable",
            raw=_shown(content),
            spent=spent,
        )

    async def moderate(self, name: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """The scores of each text by category, 0 to 1, from the endpoint's moderations. Raises CallFailed."""
        model = pick(self._models, name)
        content = await self._post(model, "/moderations", {"model": model.served, "input": list(texts)})
        try:
            found = [dict(result["category_scores"]) for result in json.loads(content)["results"]]
            scores = [{str(k): float(v) for k, v in of.items() if v is not None} for of in found]
        except (ValueError, KeyError, TypeError) as error:
            raise CallFailed(
                f"The endpoint of “{name}” did not answer as a moderations endpoint does. Does it offer one?",
                kind="bad_request",
                raw=_shown(content),
            ) from error
        if len(scores) != len(texts):
            raise CallFailed(f"“{name}” scored {len(scores)} of {len(texts)} texts.", kind="bad_request")
        return scores

    async def _post(self, model: Model, path: str, body: Mapping[str, Any]) -> bytes:
        import httpx2
        import openai

        async with self._limits[model.endpoint]:
            try:
                # A plain response: building the library's typed objects would cost a third of the CPU of a call.
                response = await self._client(model).post(path, cast_to=httpx2.Response, body=body)
            except openai.APIError as error:
                raise explain(error, model) from error
        return bytes(response.content)

    def _client(self, model: Model) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAioHttpClient

        client = self._clients.get(model.endpoint)
        if client is None:
            client = self._clients[model.endpoint] = AsyncOpenAI(
                api_key=model.key(),
                base_url=model.base_url,
                max_retries=self._retries,
                timeout=model.timeout,
                http_client=DefaultAioHttpClient(),
            )
        return client


DEFAULT_CONCURRENCY = 16


def limits(models: Any) -> dict[tuple[str, str], int]:
    """Calls in flight allowed per endpoint: the smallest limit that a model on it states."""
    stated: dict[tuple[str, str], list[int]] = {}
    for model in models:
        stated.setdefault(model.endpoint, [])
        if model.max_concurrency:
            stated[model.endpoint].append(model.max_concurrency)
    return {endpoint: min(numbers, default=DEFAULT_CONCURRENCY) for endpoint, numbers in stated.items()}


def request(
    model: Model,
    messages: Sequence[Message],
    *,
    params: Mapping[str, Any] | None = None,
    schema: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The body of a call: the prompt's parameters, overridden by the model's own."""
    if model.system == "merge":
        messages = merge(messages)
    body: dict[str, Any] = {
        "model": model.served,
        "messages": [{"role": m.role, "content": m.content} for m in messages],
        **(params or {}),
        **model.params,
    }
    if model.seed:
        body["seed"] = seed
    if schema is not None and model.replies == "json_schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        }
    elif schema is not None and model.replies == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def merge(messages: Sequence[Message]) -> list[Message]:
    """For models without a system role: instructions go to the head of the first user message."""
    instructions = "\n\n".join(m.content for m in messages if m.role == "system")
    rest = [m for m in messages if m.role != "system"]
    if not instructions:
        return rest
    if rest and rest[0].role == "user":
        return [Message("user", f"{instructions}\n\n{rest[0].content}"), *rest[1:]]
    return [Message("user", instructions), *rest]


def _shown(content: bytes) -> str:
    return content[:2000].decode("utf-8", "replace")


def _completion(content: bytes, model: Model, seconds: float) -> Completion:
    try:
        reply = json.loads(content)
        choice = reply["choices"][0]
        text = choice["message"].get("content") or ""
        usage = reply.get("usage") or {}
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        finish, refusal = choice.get("finish_reason"), choice["message"].get("refusal")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise CallFailed(
            f"The endpoint of “{model.name}” did not answer in the OpenAI protocol. Is its base_url right?",
            kind="bad_request",
            raw=_shown(content),
        ) from error
    if not isinstance(text, str):
        raise CallFailed(
            f"“{model.name}” answered with something that is not text.",
            kind="bad_request",
            raw=str(text)[:2000],
        )
    spent = Spent(1, *tokens, model.cost(*tokens), seconds)
    return Completion(text or (refusal if isinstance(refusal, str) else ""), finish == "length", spent)


def explain(error: Any, model: Model) -> CallFailed:
    """The library's error as a sentence with its remedy."""
    import httpx2
    import openai

    name, where = f"“{model.name}”", model.base_url or "the OpenAI endpoint"
    # Some endpoints repeat the key in their complaint.
    said = (getattr(error, "message", "") or str(error)).replace(model.key(), "…")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        mend = (
            f"Check the environment variable {model.key_variable}."
            if model.key_variable
            else "Name its variable in api_key_env."
        )
        return CallFailed(f"{where} refuses the key of {name} ({error.status_code}). {mend}", kind="auth")
    if isinstance(error, openai.NotFoundError):
        return CallFailed(
            f"{where} does not know {name} as “{model.served}” (404). Check `model` and `base_url` in models.toml.",
            kind="bad_request",
        )
    if isinstance(error, openai.RateLimitError):
        return CallFailed(
            f"{where} kept refusing calls for {name} (429): {said}. Lower max_concurrency, or wait and run again.",
            kind="rate_limit",
        )
    # On the aiohttp transport a refused or dropped connection, too, arrives as a timeout of connecting.
    connecting = isinstance(error.__cause__, httpx2.ConnectTimeout | httpx2.ConnectError)
    if isinstance(error, openai.APITimeoutError) and not connecting:
        return CallFailed(
            f"{name} did not answer within {model.timeout:g} s. Raise `timeout` in models.toml, or run again.",
            kind="timeout",
        )
    if isinstance(error, openai.APIConnectionError):
        return CallFailed(
            f"{where} cannot be reached for {name}. Is the server up, and base_url right?", kind="unreachable"
        )
    if isinstance(error, openai.APIStatusError) and error.status_code >= 500:
        return CallFailed(
            f"{where} failed while answering for {name} ({error.status_code}): {said}. Run again later.",
            kind="server",
        )
    status = f" ({error.status_code})" if isinstance(error, openai.APIStatusError) else ""
    return CallFailed(f"{where} rejected a call to {name}{status}: {said}", kind="bad_request")
