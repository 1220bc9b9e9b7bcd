"""``convert``: another opset, dialect or runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from onnx import ModelProto

    from qdqtool.conversion import Conversion


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
    weights: Literal["direct", "transposed"] | None = None,
    codes: Literal["signed", "unsigned"] | None = None,
    check: bool = True,
    require_check: bool = False,
    base_dir: str | Path | None = None,
    in_place: bool = False,
    ir_version: int | Literal["keep"] | None = None,
    external_data: str | None = None,
    inputs: str | Path | None = None,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    custom_ops: str | Path | Sequence[str | Path] = (),
    check_with: str | Sequence[str] = (),
    check_with_python: str | Path | None = None,
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
        Dialect to write quantize and dequantize in: ``ai.onnx`` (which also raises decomposed arithmetic, and splits fused operators into
        steps around a plain one; without `opset` at the first that has those steps), ``com.microsoft`` or ``arithmetic`` (no such
        operators at all); or fused operators to make of such steps, joined by commas: ``matmulnbits``, ``gatherblockquantized``,
        ``fakequantize``, ``qoperator``, ``matmulinteger``. ``qdq`` is ``ai.onnx``, for products of dynamic quantization too.
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
        Also raise decomposed arithmetic to quantize and dequantize nodes, and store codes in the narrowest type that holds them.
    weights : {"direct", "transposed"}, optional
        How split matrices of weights lie: ``[K, N]`` read by MatMul, by default, or ``[N, K]`` before a Transpose.
    codes : {"signed", "unsigned"}, optional
        How codes of split operators are stored; by default signed where that needs no zero points.
    check, require_check : bool
        Compare result and original; raise when that cannot be done.
    base_dir : str or Path, optional
        Folder of the external data of a model in memory.
    in_place : bool
        Allow a model in memory to be changed, and `output` to be the file of `model`.
    ir_version : int or "keep", optional
        Set ``ir_version`` instead of choosing it by opset and content.
    external_data : str, optional
        Name of one file for all large tensors of `output`.
    inputs, dims, seed, custom_ops
        For the check: an NPZ file or folder with inputs, sizes of symbolic dimensions, the seed of generated inputs, and
        libraries of custom operators.
    check_with, check_with_python
        Further runtimes (``openvino``, ``qnn``, ``ort``) in which the result is compared with the original, as by `compare`; an interpreter
        that has them, or another version of ONNX Runtime.

    Raises
    ------
    Refused
        The target cannot express the model; ``reasons`` tells each place and why.
    CheckFailed
        Result and original differ, or a required check could not run; ``report`` tells where.
    Unreadable, Usage
        The input is no sound model, or the request makes no sense.
    """
    from qdqtool import asked, pipeline, targets
    from qdqtool.api.options import check_options
    from qdqtool.model import ir
    from qdqtool.request import Request

    asked.require_number("opset", opset)
    asked.require_one("prefer", prefer, ("bytes", "nodes"))
    asked.require_one("weights", weights, (None, "direct", "transposed"))
    asked.require_one("codes", codes, (None, "signed", "unsigned"))
    options = check_options(inputs, dims, seed, custom_ops, elsewhere=check_with, python=check_with_python)
    out = asked.place(model, output, in_place=in_place)
    profile = None if target is None else targets.convertible(target)
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
        weights,
        codes,
    )
    if not ir.is_ir(model):
        return pipeline.convert(model, base_dir, request)
    proto, folder = ir.to_proto(model)
    return pipeline.convert(proto, base_dir or folder, request, wrap=ir.from_proto)
