"""Records as JSON: stable key order, UTF-8, numbers that JSON lacks as strings."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

STDOUT = Path("-")


def write(record: Mapping[str, Any], target: Path | None) -> None:
    """Write the record to a file or, for ``-``, to stdout; nothing without a target."""
    if target is None:
        return
    text = dumped(record)
    if target == STDOUT:
        sys.stdout.write(text)
    else:
        target.write_text(text, encoding="utf-8")


def dumped(record: Mapping[str, Any]) -> str:
    """The record as text."""
    return json.dumps(_plain(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
