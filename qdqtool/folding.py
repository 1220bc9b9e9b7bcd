"""The record of a finished fold: the new model, what was computed, and what the check said."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qdqtool.check import Report
from qdqtool.comparison import Comparison
from qdqtool.exactness import Bound, Exactness
from qdqtool.result import Result


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold.

    `where` names the node, `kind` is the kind of fold that was asked for, `what` says what the node means; `nodes` counts the
    nodes that went and those that stand there now, `bytes` the constants read before and after (shared ones for each of their
    readers), `seconds` what computing the new ones took.
    """

    where: str
    kind: str
    what: str
    exactness: Exactness
    bound: Bound
    nodes: tuple[int, int]
    bytes: tuple[int, int]
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "where": self.where,
            "kind": self.kind,
            "what": self.what,
            "exactness": str(self.exactness),
            "bound": str(self.bound),
            "nodes": list(self.nodes),
            "bytes": list(self.bytes),
            "seconds": round(self.seconds, 6),
        }


@dataclass(slots=True, eq=False)
class Folding:
    """A finished fold.

    Attributes
    ----------
    files : tuple of Path
        What was written for ``output``: the model, then its new data files.
    opset : int
        Version of the default domain, which stays.
    ir : tuple of int
        ``ir_version`` before and after.
    folds : tuple of Fold
        What was folded, in the order of the model.
    nodes, bytes : tuple of int
        Nodes of the model, and bytes of all its constants, before and after.
    kept : int
        Quantize and dequantize nodes that are still there.
    foldable : int
        Those of them that dequantize constants: what ``weights`` would fold, or was kept from folding.
    weights : bool
        Whether ``weights`` was asked for.
    limits : tuple of str
        The options that held back what is foldable though ``weights`` was asked for.
    tidied : tuple of str
        What ``tidy`` removed.
    notes : tuple of str
        What else was changed or is odd.
    seconds : float
        What reading and planning took.
    check : Report or None
        What the closing check found; None when it was not asked for.
    elsewhere : Comparison or None
        What further runtimes make of the result, where ``check_with`` asked for some.
    """

    opset: int
    ir: tuple[int, int]
    folds: tuple[Fold, ...]
    nodes: tuple[int, int]
    bytes: tuple[int, int]
    kept: int
    result: Result = field(repr=False)
    foldable: int = 0
    tidied: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    check: Report | None = None
    elsewhere: Comparison | None = None
    files: tuple[Path, ...] = ()
    weights: bool = False
    limits: tuple[str, ...] = ()

    @property
    def model(self) -> Any:
        """The result as ModelProto (or onnx_ir.Model if that was given).

        Tensors that nobody had to read keep their references to external data, new ones are inside.
        """
        return self.result.model()

    def save(self, path: str | Path, *, external_data: str | None = None, overwrite: bool = True, in_place: bool = False) -> Path:
        """Write the result; parameters and errors as ``result.Result.save``."""
        return self.result.save(path, external_data=external_data, overwrite=overwrite, in_place=in_place)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "opset": self.opset,
            "ir_version": list(self.ir),
            "folds": [f.to_dict() for f in self.folds],
            "nodes": list(self.nodes),
            "bytes": list(self.bytes),
            "kept": self.kept,
            "foldable": self.foldable,
            "held_back_by": list(self.limits),
            "tidied": list(self.tidied),
            "notes": list(self.notes),
            "seconds": round(self.seconds, 6),
            "check": self.check.to_dict() if self.check else None,
            **({"elsewhere": self.elsewhere.to_dict()} if self.elsewhere else {}),
        }
