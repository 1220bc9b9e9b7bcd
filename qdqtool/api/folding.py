"""``fold``: what follows from constants, computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto

    from qdqtool.folding import Folding


def fold(
    model: str | Path | ModelProto | Any,
    *,
    output: str | Path | None = None,
    quantize: bool = True,
    pairs: bool = True,
    scales: bool = True,
    weights: bool = False,
    bias: bool = False,
    move: bool = False,
    collapse: bool = False,
    only: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    max_growth: int | str | None = None,
    allow_approximate: bool = False,
    tidy: bool = False,
    check: bool = True,
    require_check: bool = False,
    base_dir: str | Path | None = None,
    in_place: bool = False,
    external_data: str | None = None,
    inputs: str | Path | None = None,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    custom_ops: str | Path | Sequence[str | Path] = (),
    check_with: str | Sequence[str] = (),
    check_with_python: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Folding:
    """Compute now what quantize and dequantize nodes would compute from constants, and compare the result with the original.

    The first three kinds of folds are exact, keep the model quantized and never make it larger, so they are on. The others are off:
    they must be asked for. None changes the opset, and none needs more memory than a few tiles of a weight.

    Parameters
    ----------
    model : str, Path, ModelProto or onnx_ir.Model
        A file or a model in memory; the latter is not changed unless `in_place`. ``Folding.model`` is an ``onnx_ir.Model`` if
        this is one.
    output : str or Path, optional
        File to write once the check has passed; without it use ``Folding.save``.
    quantize : bool
        QuantizeLinear of constants becomes their codes.
    pairs : bool
        Dequantize and quantize with the same parameters cancel, where every code survives that.
    scales : bool
        Arithmetic on constants in front of a scale or zero point is done.
    weights, bias : bool
        DequantizeLinear of constants (`bias`: of int32 codes only) becomes real values. This ends their quantization and makes
        the file larger.
    move : bool
        Transpose, Reshape, Squeeze, Unsqueeze, Flatten, Gather, Slice and Concat of a dequantized constant are done on its
        codes, where scales can follow; with `weights` on its values.
    collapse : bool
        Scales that are equal along an axis or from block to block are told once. This reads all scales.
    only, skip : str or sequence of str
        Patterns of what to fold and what not: ``name:GLOB``, ``op:GLOB`` (who reads the result), ``type:GLOB`` (of the codes),
        ``size:>1MB``, several joined by commas where all must hold.
    max_growth : int or str, optional
        By how much `weights` and `bias` may enlarge the constants: bytes, ``"20MB"`` or ``"10%"``; least growth first.
    allow_approximate : bool
        Quantize, dequantize, quantize with other parameters becomes the last quantize; the report states by how many steps
        results may move.
    tidy : bool
        Also remove nodes, constants, functions and imports that nobody uses.
    check, require_check : bool
        Compare result and original; raise when that cannot be done.
    base_dir : str or Path, optional
        Folder of the external data of a model in memory.
    in_place : bool
        Allow a model in memory to be changed, and `output` to be the file of `model`.
    external_data : str, optional
        Name of one file for all large tensors of `output`.
    inputs, dims, seed, custom_ops
        For the check: an NPZ file or folder with inputs, sizes of symbolic dimensions, the seed of generated inputs, and
        libraries of custom operators.
    check_with, check_with_python
        Further runtimes (``openvino``, ``qnn``, ``ort``) in which the result is compared with the original, as by `compare`; an interpreter
        that has them, or another version of ONNX Runtime.
    progress : callable, optional
        Called with bytes done and bytes in all while new constants are computed.

    Raises
    ------
    CheckFailed
        Result and original differ, or a required check could not run; ``report`` tells where.
    Unreadable, Usage
        The input is no sound model, or the request makes no sense.
    """
    from qdqtool import asked, fold_pipeline
    from qdqtool.api.options import check_options
    from qdqtool.asked import listed
    from qdqtool.model import ir
    from qdqtool.passes.selection import selection
    from qdqtool.passes.wishes import wishes
    from qdqtool.request import FoldRequest

    options = check_options(inputs, dims, seed, custom_ops, elsewhere=check_with, python=check_with_python)
    out = asked.place(model, output, in_place=in_place)
    wanted = wishes(
        {
            "quantize": quantize,
            "pairs": pairs,
            "scales": scales,
            "weights": weights,
            "bias": bias,
            "move": move,
            "collapse": collapse,
        },
        selection(listed(only), listed(skip)),
        max_growth,
        approximate=allow_approximate,
        tidy=tidy,
    )
    request = FoldRequest(wanted, check, require_check, in_place, external_data, out, options, progress)
    if not ir.is_ir(model):
        return fold_pipeline.fold(model, base_dir, request)
    proto, folder = ir.to_proto(model)
    return fold_pipeline.fold(proto, base_dir or folder, request, wrap=ir.from_proto)
