"""The record of a finished conversion: the new model, what changed, and what the check said."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qdqtool.changes import Change
from qdqtool.check import Report
from qdqtool.comparison import Comparison
from qdqtool.result import Result


@dataclass(slots=True, eq=False)
class Conversion:
    """A finished conversion.

    Attributes
    ----------
    files : tuple of Path
        What was written for ``output``: the model, then its new data files.
    source_opset, target_opset : int
        Versions of the default domain before and after.
    ir : tuple of int
        ``ir_version`` before and after.
    changes : tuple of Change
        One for each rewritten node.
    notes : tuple of str
        What else was changed, left or odd.
    kept : int
        Quantize and dequantize nodes that stayed as they are.
    check : Report or None
        What the closing check found; None when it was not asked for.
    elsewhere : Comparison or None
        What further runtimes make of the result, where ``check_with`` asked for some.
    """

    source_opset: int
    target_opset: int
    ir: tuple[int, int]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    kept: int
    check: Report | None = None
    elsewhere: Comparison | None = None
    files: tuple[Path, ...] = ()
    _result: Result | None = field(default=None, repr=False)

    @property
    def result(self) -> Result:
        """The rewritten model, before it is written."""
        assert self._result is not None
        return self._result

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
            "source_opset": self.source_opset,
            "target_opset": self.target_opset,
            "ir_version": list(self.ir),
            "changes": [c.to_dict() for c in self.changes],
            "kept": self.kept,
            "notes": list(self.notes),
            "check": self.check.to_dict() if self.check else None,
            **({"elsewhere": self.elsewhere.to_dict()} if self.elsewhere else {}),
        }
