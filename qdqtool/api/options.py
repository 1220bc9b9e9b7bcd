"""How to check, out of the arguments that ``convert``, ``fold`` and ``compare`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdqtool.check import CheckOptions


def check_options(
    inputs: str | Path | None,
    dims: Mapping[str, int] | None,
    seed: int,
    custom_ops: str | Path | Sequence[str | Path],
    *,
    elsewhere: str | Sequence[str] = (),
    python: str | Path | None = None,
) -> CheckOptions:
    """The arguments as the check wants them; `elsewhere` and `python` are runtimes to check in besides."""
    from qdqtool.asked import listed
    from qdqtool.check import CheckOptions

    return CheckOptions(
        Path(inputs) if inputs else None,
        dict(dims or {}),
        seed,
        tuple(map(Path, listed(custom_ops))),
        elsewhere=listed(elsewhere),
        python=None if python is None else Path(python),
    )
