"""What a user may ask of the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from qdqtool.check.probe import Rounded

if TYPE_CHECKING:
    from qdqtool.check.sessions import Setting


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How to check.

    Attributes
    ----------
    inputs : Path, optional
        NPZ file, or folder of .npy and .pb files, with inputs for the whole model; others are made up.
    dims : mapping of str to int
        Size of a symbolic dimension, or of one dimension written ``input:axis``.
    seed : int
        Of everything made up.
    custom_ops : tuple of Path
        Libraries of custom operators for ONNX Runtime.
    base_dir : Path, optional
        Folder of the original's external data, by default that of the original. The rewritten model's data is looked for
        beside it first, then here.
    rounded : tuple of Rounded
        Nodes whose results may part by rounding though nothing is wrong.
    info : bool
        Whether to load the result with default optimizations at the end.
    elsewhere : tuple of str
        Further runtimes in which the result is compared with the original, once the check has passed.
    python : Path, optional
        An interpreter that has them, or another version of ONNX Runtime.
    """

    inputs: Path | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    custom_ops: tuple[Path, ...] = ()
    base_dir: Path | None = None
    rounded: tuple[Rounded, ...] = ()
    info: bool = True
    elsewhere: tuple[str, ...] = ()
    python: Path | None = None

    @property
    def setting(self) -> Setting:
        """Sessions as the check wants them."""
        from qdqtool.check.sessions import Setting

        return Setting(custom_ops=self.custom_ops)
