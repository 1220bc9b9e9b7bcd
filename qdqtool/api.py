"""The Python API: paths or models in, records out. The command line is a thin layer over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from onnx import ModelProto

from qdqtool import inspection, pipeline, targets
from qdqtool.changes import Change
from qdqtool.check import CheckOptions
from qdqtool.conversion import Conversion
from qdqtool.inspection import Inspection
from qdqtool.model import ir
from qdqtool.model.load import load
from qdqtool.plan.entries import Refusal
from qdqtool.request import Request
from qdqtool.targets import record

__all__ = ["Change", "Conversion", "Inspection", "Refusal", "convert", "inspect", "profiles"]


def convert(
    model: str | Path | ModelProto | Any,
    *,
    opset: int | None = None,
    to: str | None = None,
    target: str | None = None,
    output: str | Path | None = None,
    exact: bool = False,
    allow_approximate: bool = False,
    prefer: Literal["bytes", "nodes"] = "bytes",
    simplify: bool = False,
    check: bool = True,
    require_check: bool = False,
    base_dir: str | Path | None = None,
    in_place: bool = False,
    ir_version: int | Literal["keep"] | None = None,
    external_data: str | None = None,
    inputs: str | Path | None = None,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    custom_ops: Sequence[str | Path] = (),
) -> Conversion:
    """Move a quantized model to another opset or dialect, and compare the result with the original.

    Parameters
    ----------
    model : str, Path, ModelProto or onnx_ir.Model
        A file or a model in memory; the latter is not changed unless `in_place`. ``Conversion.model`` is an
        ``onnx_ir.Model`` if this is one.
    opset : int, optional
        Target opset of the default domain, 7 to 28; by default that of the model.
    to : str, optional
        Dialect to write quantize and dequantize in: ``ai.onnx`` or ``com.microsoft``.
    target : str, optional
        What the result shall run in, as ``NAME[@VERSION]``: ``ort@1.17`` (ONNX Runtime, CPU), or ``opset@17``. Without
        `opset` the model's own stays if everything runs there, else the one is taken at which the least has to change.
    output : str or Path, optional
        File to write once the check has passed; without it use ``Conversion.save``.
    exact, allow_approximate : bool
        Refuse what is equal only up to rounding; accept what only comes near.
    prefer : {"bytes", "nodes"}
        What to keep few of where there is a choice.
    simplify : bool
        Also raise decomposed arithmetic to quantize and dequantize nodes.
    check, require_check : bool
        Compare result and original; raise when that cannot be done.
    base_dir : str or Path, optional
        Folder of the external data of a model in memory.
    in_place : bool
        Allow a model in memory to be changed.
    ir_version : int or "keep", optional
        Set ``ir_version`` instead of choosing it by opset and content.
    external_data : str, optional
        Name of one file for all large tensors of `output`.
    inputs, dims, seed, custom_ops
        For the check: an NPZ file or folder with inputs, sizes of symbolic dimensions, the seed of generated inputs, and
        libraries of custom operators.

    Raises
    ------
    Refused
        The target cannot express the model; ``reasons`` tells each place and why.
    CheckFailed
        Result and original differ, or a required check could not run; ``report`` tells where.
    Unreadable, Usage
        The input is no sound model, or the request makes no sense.
    """
    options = CheckOptions(Path(inputs) if inputs else None, dict(dims or {}), seed, tuple(Path(p) for p in custom_ops))
    out = None if output is None else Path(output).absolute()
    profile = None if target is None else targets.profile(target)
    request = Request(
        opset,
        to,
        exact,
        allow_approximate,
        prefer,
        simplify,
        check,
        require_check,
        in_place,
        ir_version,
        external_data,
        out,
        options,
        profile,
    )
    if not ir.is_ir(model):
        return pipeline.convert(model, base_dir, request)
    proto, folder = ir.to_proto(model)
    return pipeline.convert(proto, base_dir or folder, request, wrap=ir.from_proto)


def inspect(model: str | Path | ModelProto) -> Inspection:
    """What a model holds: opsets, ``ir_version``, functions, and a table of its quantized nodes. No weight is read."""
    return inspection.inspect(load(model))


def profiles(target: str | None = None) -> list[dict[str, Any]]:
    """What is known of the target ``NAME[@VERSION]``, or of all; Usage when it is unknown."""
    if target is not None:
        return [record.to_dict(targets.profile(target))]
    known = [f"{name}@{version}" for name, runtime in targets.all_targets().items() if name != "opset" for version in runtime.versions()]
    return [record.to_dict(targets.profile(name)) for name in ("opset", *known)]
