"""A model in ONNX form in a folder, as Hugging Face's exporters lay it out: its network, its tokenizer, its settings.

Only JSON and ONNX files are read; nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from iterative_rag.errors import WeightsError
from iterative_rag.system.telemetry import warn_if_on

if TYPE_CHECKING:
    from tokenizers import Tokenizer

T = TypeVar("T")
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
# Of a model whose files name no length, and the most of any: attention costs the square of it.
DEFAULT_TOKENS, MOST_TOKENS = 512, 8192
HINT = f"Name a folder that holds {MODEL} (or onnx/{MODEL}) and {TOKENIZER}, or an .onnx file beside them: onnx/PATH"
_ENDS = 1 << 20  # bytes hashed at each end of a network


@dataclass(frozen=True, slots=True)
class Encoded:
    """A batch of texts or pairs as the network takes it: arrays of shape (texts, tokens)."""

    inputs: Mapping[str, Any]

    @property
    def mask(self) -> Any:
        return self.inputs["attention_mask"]


class OnnxFolder:
    """`path` is the folder or the .onnx file. Raises WeightsError where a file is missing; so do all methods for files
    that cannot be used. The network is loaded with the first batch; safe to use from several threads."""

    def __init__(self, path: Path, *, truncate: str = "longest_first") -> None:
        path = path.expanduser().absolute()
        self.file = self._network_in(path) if path.is_dir() else path
        parent = self.file.parent
        outside = parent.parent if parent.name == "onnx" and not (parent / TOKENIZER).is_file() else parent
        self.folder = outside
        self._truncate = truncate
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Tokenizer] | None = None
        for file in (self.file, self.folder / TOKENIZER):
            if not file.is_file():
                raise WeightsError(f"There is no {file}.", hint=HINT)

    @staticmethod
    def _network_in(folder: Path) -> Path:
        nested = folder / "onnx" / MODEL
        return nested if nested.is_file() and not (folder / MODEL).is_file() else folder / MODEL

    def settings(self, name: str) -> Mapping[str, Any]:
        """A JSON object of the folder; empty where there is no such file."""
        return self._json(name, dict, {})

    def modules(self) -> list[str]:
        """The kinds of layers that sentence-transformers puts behind one another ("Pooling"); none without its list."""
        try:
            return [str(layer["type"]).rpartition(".")[2] for layer in self._json("modules.json", list, [])]
        except (TypeError, KeyError) as error:
            raise WeightsError(f"modules.json cannot be read: {error!r}.", hint=HINT) from error

    def _json(self, name: str, kind: type[T], absent: T) -> T:
        file = self.folder / name
        try:
            held = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else absent
        except (OSError, ValueError) as error:
            raise WeightsError(f"{file} cannot be read: {error}.", hint=HINT) from error
        if not isinstance(held, kind):
            raise WeightsError(f"{file} is not a JSON {'object' if kind is dict else 'list'}.", hint=HINT)
        return held

    @cached_property
    def max_tokens(self) -> int:
        """The tokens that a text is cut to."""
        named = (
            self.settings("sentence_bert_config.json").get("max_seq_length"),
            self.settings("tokenizer_config.json").get("model_max_length"),
        )
        lengths = [size for size in named if isinstance(size, int) and 0 < size < 1_000_000]  # 1e30 says "no limit"
        return min(lengths[0] if lengths else DEFAULT_TOKENS, MOST_TOKENS)

    @cached_property
    def digest(self) -> str:
        """Tells models apart: the network's size and ends, and the tokenizer. The same wherever the folder lies."""
        sha = hashlib.sha256()
        for file in sorted({self.file, *self.file.parent.glob(f"{self.file.name}*data")}):
            size = file.stat().st_size
            sha.update(f"{file.name} {size}\n".encode())
            with file.open("rb") as opened:
                sha.update(opened.read(_ENDS))
                opened.seek(max(0, size - _ENDS))
                sha.update(opened.read(_ENDS))
        sha.update((self.folder / TOKENIZER).read_bytes())
        return sha.hexdigest()[:12]

    def encode(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Encoded:
        import numpy as np

        _, tokenizer = self._model()
        rows = tokenizer.encode_batch(list(texts))
        named = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        return Encoded(
            {name: np.array([getattr(row, of) for row in rows], np.int64) for name, of in named.items()}
            | {"position_ids": np.array([range(len(row.ids)) for row in rows], np.int64)}
        )

    def run(self, encoded: Encoded) -> dict[str, Any]:
        """The outputs of the network by name."""
        session, _ = self._model()
        try:
            inputs = {node.name: encoded.inputs[node.name] for node in session.get_inputs()}
            outputs = session.run(None, inputs)
        except KeyError as error:
            raise WeightsError(f"{self.file} wants an input {error}, which texts do not give.", hint=HINT) from error
        except Exception as error:  # onnxruntime raises classes of its own
            raise WeightsError(f"{self.file} cannot read these texts: {error}.", hint=HINT) from error
        return {node.name: output for node, output in zip(session.get_outputs(), outputs, strict=True)}

    def _model(self) -> tuple[Any, Tokenizer]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> tuple[Any, Tokenizer]:
        warn_if_on("onnxruntime")
        import onnxruntime  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
            tokenizer.enable_truncation(self.max_tokens, strategy=self._truncate)
            # Many networks count positions by the padding, and XLM-R pads with another id than BERT.
            tokenizer.enable_padding(**self._padding(tokenizer.token_to_id))
            session = onnxruntime.InferenceSession(str(self.file), providers=["CPUExecutionProvider"])
        except WeightsError:
            raise
        except Exception as error:  # both libraries raise classes of their own
            raise WeightsError(f"{self.file} cannot be loaded: {error}.", hint=HINT) from error
        return session, tokenizer

    def _padding(self, id_of: Callable[[str], int | None]) -> dict[str, Any]:
        named = self.settings("tokenizer_config.json").get("pad_token")
        token = named.get("content") if isinstance(named, dict) else named
        for candidate in (token, "[PAD]", "<pad>"):
            if isinstance(candidate, str) and (known := id_of(candidate)) is not None:
                return {"pad_id": known, "pad_token": candidate}
        return {}
