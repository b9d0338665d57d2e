"""Any endpoint that speaks OpenAI's embeddings protocol: a server on this machine, or a service that is sent the texts."""

from __future__ import annotations

import base64
import json
import struct
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from tallystick.embedders.protocol import packed
from tallystick.errors import MachineError

AT_ONCE = 64
"""Texts in one request."""
TIMEOUT_SECONDS = 60
MOST_BYTES = 64 * 1024 * 1024
"""Of an answer; a longer one is no answer."""


class Endpoint:
    """Implements ``protocol.Embedder``. ``url`` is what ``/embeddings`` comes behind: ``http://localhost:8080/v1``."""

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self.name = f"{model}/1"
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._key = key

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See ``protocol.Embedder``. An empty text is sent as one space: services refuse it."""
        found: list[bytes] = []
        for start in range(0, len(texts), AT_ONCE):
            batch = [text.encode("utf-8", "replace").decode() or " " for text in texts[start : start + AT_ONCE]]
            found.extend(self._asked(batch))
        return found

    def _asked(self, texts: list[str]) -> list[bytes]:
        body = json.dumps({"input": texts, "model": self._model, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - the scheme was checked with the setting
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
                data = answer.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                said = " ".join(error.read(300).decode("utf-8", "replace").split())
            raise MachineError(f"{self._url}: {error.code} {error.reason}: {said}") from None
        except (OSError, ValueError) as error:
            raise MachineError(
                f"{self._url}: {getattr(error, 'reason', error)}; is the embedding server running?"
            ) from None
        try:
            listed: list[Any] = sorted(json.loads(data)["data"], key=lambda each: each["index"])
            vectors = [packed(_numbers(each["embedding"])) for each in listed]
            if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
                raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
        except (ValueError, KeyError, TypeError, struct.error, RecursionError) as error:
            raise MachineError(f"{self._url}: not an answer of the embeddings protocol ({error!r})"[:300]) from None
        return vectors


def _numbers(embedding: object) -> list[float]:
    """Listed, or as base64 of little-endian 32-bit floats, which some servers send whatever was asked for."""
    if isinstance(embedding, str):
        data = base64.b64decode(embedding, validate=True)
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    if not isinstance(embedding, list):
        raise TypeError("an embedding is a list of numbers")
    return [float(each) for each in embedding]
