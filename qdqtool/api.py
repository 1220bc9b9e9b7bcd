"""The Python API: paths or models in, records out. The command line is a thin layer over it.

Each function imports what it needs when it is called, so that linting pays for no converter and no runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from onnx import ModelProto

    from qdqtool.comparison import Comparison
    from qdqtool.conversion import Conversion
    from qdqtool.findings import Severity
    from qdqtool.folding import Folding
    from qdqtool.inspection import Inspection
    from qdqtool.rules.descriptions import Description
    from qdqtool.validation import Validation

__all__ = ["compare", "convert", "inspect", "profiles", "rules", "validate"]


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
    from qdqtool.asked import listed
    from qdqtool.check import CheckOptions
    from qdqtool.model import ir
    from qdqtool.request import Request

    asked.require_number("opset", opset)
    asked.require_one("prefer", prefer, ("bytes", "nodes"))
    asked.require_one("weights", weights, (None, "direct", "transposed"))
    asked.require_one("codes", codes, (None, "signed", "unsigned"))
    python = None if check_with_python is None else Path(check_with_python)
    options = CheckOptions(
        Path(inputs) if inputs else None,
        dict(dims or {}),
        seed,
        tuple(map(Path, listed(custom_ops))),
        elsewhere=listed(check_with),
        python=python,
    )
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
    from qdqtool.asked import listed
    from qdqtool.check import CheckOptions
    from qdqtool.model import ir
    from qdqtool.passes.selection import selection
    from qdqtool.passes.wishes import wishes
    from qdqtool.request import FoldRequest

    python = None if check_with_python is None else Path(check_with_python)
    options = CheckOptions(
        Path(inputs) if inputs else None,
        dict(dims or {}),
        seed,
        tuple(map(Path, listed(custom_ops))),
        elsewhere=listed(check_with),
        python=python,
    )
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


def compare(
    a: str | Path | ModelProto | Any,
    b: str | Path | ModelProto | Any | None = None,
    *,
    runtimes: str | Sequence[str] = ("ort",),
    python: str | Path | None = None,
    optimized: bool = False,
    inputs: str | Path | None = None,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    custom_ops: str | Path | Sequence[str | Path] = (),
    base_dir: str | Path | None = None,
) -> Comparison:
    """Say where two models, or two runtimes, part on the same inputs, and why.

    Parameters
    ----------
    a, b : str, Path, ModelProto or onnx_ir.Model
        Two models of the same inputs and outputs. `a` runs in ONNX Runtime without optimizations; without `b` it is compared with
        itself elsewhere.
    runtimes : str or sequence of str
        Where `b` runs: ``ort``, ``openvino``, ``qnn``.
    python : str or Path, optional
        An interpreter that has the runtime, or another version of ONNX Runtime; by default this one.
    optimized : bool
        Let `b` run with the default optimizations of its runtime.
    inputs, dims, seed, custom_ops
        An NPZ file or folder with inputs, sizes of symbolic dimensions, the seed of generated inputs, and libraries of custom
        operators.
    base_dir : str or Path, optional
        Folder of the external data of models in memory.

    Returns
    -------
    Comparison
        ``verdict``, ``first`` (the first place that parts, with its reasons), and a run for each runtime.

    Raises
    ------
    Unreadable, Usage
        A model is unsound, the interfaces differ, a runtime is unknown or not installed, or there is nothing to compare.
    """
    from contextlib import ExitStack

    from qdqtool import comparing
    from qdqtool.asked import listed
    from qdqtool.check import CheckOptions
    from qdqtool.comparing.opening import opened

    options = CheckOptions(Path(inputs) if inputs else None, dict(dims or {}), seed, tuple(map(Path, listed(custom_ops))))
    request = comparing.Request(listed(runtimes), None if python is None else Path(python), optimized, options)
    with ExitStack() as open_files:
        first, *second = (open_files.enter_context(opened(model, base_dir)) for model in (a, b) if model is not None)
        return comparing.compare(first, second[0] if second else None, request)


def inspect(model: str | Path | ModelProto) -> Inspection:
    """What a model holds: opsets, ``ir_version``, functions, and a table of its quantized nodes. No weight is read."""
    from qdqtool import inspection
    from qdqtool.model.load import load

    return inspection.inspect(load(model))


def data_files(model: str | Path) -> list[Path]:
    """Files that hold the external data of a model; none when it cannot be read."""
    from qdqtool.errors import Unreadable
    from qdqtool.model.load import load

    try:
        loaded = load(model, trusting=True)
    except Unreadable:
        return []
    folder = Path(model).absolute().parent
    return [folder / name for name in sorted(loaded.data_files) if name and "\0" not in name]


def profiles(target: str | None = None) -> list[dict[str, Any]]:
    """What is known of the target ``NAME[@VERSION]``, or of all; Usage when it is unknown."""
    from qdqtool import targets
    from qdqtool.targets import record

    if target is not None:
        return [record.to_dict(targets.profile(target))]
    runtimes = [(name, runtime.versions()) for name, runtime in targets.all_targets().items() if name != "opset"]
    known = [f"{name}@{version}" if version else name for name, versions in runtimes for version in versions or ("",)]
    opsets = targets.all_targets()["opset"].versions()
    opset = record.to_dict(targets.profile("opset")) | {"target": "opset@N", "opsets": [int(opsets[0]), int(opsets[-1])]}
    return [opset, *(record.to_dict(targets.profile(name)) for name in known)]


def validate(
    models: str | Path | ModelProto | Sequence[str | Path] | Any,
    *,
    target: str | None = None,
    select: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    per_file_ignores: Mapping[str, Sequence[str]] | None = None,
    exclude: str | Sequence[str] | None = None,
    fail_on: Severity | None = None,
    baseline: str | Path | None = None,
    write_baseline: str | Path | None = None,
    config: str | Path | None = None,
    jobs: int = 1,
    base_dir: str | Path | None = None,
    fix: bool = False,
    unsafe: bool = False,
    diff: bool = False,
    fixed: str | Path | None = None,
) -> Validation:
    """Say what is wrong with quantized models: against the specification, in their values and patterns, and for a runtime.

    Parameters
    ----------
    models : path, sequence of paths, ModelProto or onnx_ir.Model
        Files, folders (every ``.onnx`` below them), or one model in memory.
    target : str, optional
        What the models shall run in, as ``NAME[@VERSION]``; by default the newest ONNX Runtime.
    select, ignore : str or sequence of str, optional
        Rules to run or to leave out: codes, their beginnings, or names. The longer word wins.
    per_file_ignores : mapping, optional
        Patterns of paths (below the folder of the settings) to rules that are left out there.
    exclude : str or sequence of str, optional
        Patterns of paths that are passed over below folders.
    fail_on : {"error", "warning", "info"}, optional
        Which findings make ``Validation.ok`` False; by default errors.
    baseline, write_baseline : str or Path, optional
        A file of known findings, which are not reported; where to write one with all that is found.
    config : str or Path, optional
        Settings for what is not given here: a ``qdqtool.toml`` or ``pyproject.toml``, or a folder, in which (or above which)
        the nearest one is looked for. Without it none are read.
    jobs : int
        Number of processes.
    base_dir : str or Path, optional
        Folder of the external data of a model in memory.
    fix, unsafe, diff : bool
        Mend what can be mended without changing a result; also what changes results; only say what would change.
    fixed : str or Path, optional
        Where the mended model goes; by default it replaces the file. It is compared with the original first.

    Returns
    -------
    Validation
        Findings by file. Files that are no model, and files whose fixes do not pass the check, are in ``errors``.

    Raises
    ------
    Usage
        A rule, target or setting is unknown, or no model was named.
    """
    from qdqtool import asked
    from qdqtool.findings import SEVERITIES
    from qdqtool.linting import config as settings
    from qdqtool.linting.validate import Wanted, validate

    asked.require_one("fail_on", fail_on, (None, *SEVERITIES))
    chosen, ignored, passed = (None if words is None else asked.listed(words) for words in (select, ignore, exclude))
    project = settings.Config(Path.cwd()) if config is None else settings.nearest(Path(config))
    known, new, mended = (None if path is None else Path(path) for path in (baseline, write_baseline, fixed))
    wanted = Wanted(target, chosen, ignored, per_file_ignores, passed, fail_on, known, new, jobs, fix, unsafe, diff, mended)
    return validate(models, wanted, project, None if base_dir is None else Path(base_dir))


def rules() -> list[Description]:
    """All rules that ``validate`` knows, with their pages."""
    from qdqtool.rules.descriptions import descriptions

    return descriptions()
