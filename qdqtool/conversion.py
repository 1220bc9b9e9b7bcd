"""One conversion from end to end: load, plan, apply, stage, check, publish."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any, Literal

from onnx import ModelProto, defs, inliner

from qdqtool.check import CheckOptions, Probe, Report, Rounded, check
from qdqtool.dialects import all_dialects
from qdqtool.errors import CheckFailed, Refused, Usage
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Computed, Expr, Op, Step, Stored, children
from qdqtool.expressions import Literal as LiteralConst
from qdqtool.kernels.sources import Source, materialize
from qdqtool.model import external, inline, tensors, walk
from qdqtool.model.graph import MAIN, View
from qdqtool.model.load import Loaded, load, opset_of
from qdqtool.model.stage import Staged, stage
from qdqtool.model.structure import require_sound
from qdqtool.model.versions import settle_ir_version
from qdqtool.plan.apply import apply_plan
from qdqtool.plan.build import Builder
from qdqtool.plan.entries import Adapt, Replace
from qdqtool.plan.probe import probes
from qdqtool.plan.target import Preference, Target

OLDEST, NEWEST = 7, defs.onnx_opset_version()
_INLININGS = 8


@dataclass(frozen=True, slots=True)
class Change:
    """One rewritten node.

    `where` names it, `what` says what it means, `how` lists the lowerings (empty: only respelled), `nodes` and `bytes`
    count nodes and bytes of constants before and after.
    """

    where: str
    what: str
    how: tuple[str, ...]
    exactness: Exactness
    bound: Bound
    nodes: tuple[int, int]
    bytes: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "where": self.where,
            "what": self.what,
            "how": list(self.how),
            "exactness": str(self.exactness),
            "bound": str(self.bound),
            "nodes": list(self.nodes),
            "bytes": list(self.bytes),
        }


@dataclass(slots=True, eq=False)
class Conversion:
    """A finished conversion.

    Attributes
    ----------
    changes : tuple of Change
        One for each rewritten node.
    check : Report or None
        What the closing check found; None when it was not asked for.
    notes : tuple of str
        What else was changed, left or odd.
    kept : int
        Quantize and dequantize nodes that stayed as they are.
    source_opset, target_opset : int
    ir : tuple of int
        ``ir_version`` before and after.
    """

    source_opset: int
    target_opset: int
    ir: tuple[int, int]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    kept: int
    check: Report | None = None
    _proto: ModelProto = field(default_factory=ModelProto, repr=False)
    _pending: dict[str, Source] = field(default_factory=dict, repr=False)
    _loaded: Loaded | None = field(default=None, repr=False)
    _unchanged: bool = False
    _rounded: tuple[Rounded, ...] = ()
    _wrap: Callable[[ModelProto], Any] | None = field(default=None, repr=False)

    @property
    def model(self) -> Any:
        """The result as ModelProto (or onnx_ir.Model if that was given).

        Tensors that nobody had to read keep their references to external data, new ones are inside.
        """
        for tensor in walk.tensors(self._proto):
            if tensor.name in self._pending and not inline.has_data(tensor):
                tensor.raw_data = tensors.make(tensor.name, materialize(self._pending[tensor.name])).raw_data
        self._pending.clear()
        return self._proto if self._wrap is None else self._wrap(self._proto)

    def save(self, path: str | Path, *, external_data: str | None = None, overwrite: bool = True) -> Path:
        """Write the result, computing new constants tile by tile; the file appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            The .onnx file. External data is referred to when it lies in the same folder, else copied.
        external_data : str, optional
            Name of one file for all large tensors.
        overwrite : bool
            Whether `path` may exist.
        """
        staged = self.stage(Path(path), external_data, overwrite)
        return staged.publish()

    def stage(self, path: Path, external_data: str | None = None, overwrite: bool = True) -> Staged:
        """The result in a staging folder beside `path`."""
        assert self._loaded is not None
        return stage(
            self._proto,
            self._pending,
            loaded=self._loaded,
            out=path,
            external_data=external_data,
            overwrite=overwrite,
            unchanged=self._unchanged,
        )

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
        }


@dataclass(frozen=True, slots=True)
class Request:
    """What a conversion is asked to do; see ``api.convert`` for each."""

    opset: int | None = None
    to: str | None = None
    exact: bool = False
    allow_approximate: bool = False
    prefer: Preference = "bytes"
    simplify: bool = False
    check: bool = True
    require_check: bool = False
    in_place: bool = False
    ir_version: int | Literal["keep"] | None = None
    external_data: str | None = None
    output: Path | None = None
    options: CheckOptions = field(default_factory=CheckOptions)


def convert(
    model: str | Path | ModelProto, base_dir: str | Path | None, request: Request, wrap: Callable[[ModelProto], Any] | None = None
) -> Conversion:
    """Carry out a request; the output, if one is asked for, is published only after the check.

    `wrap` turns the result into what ``Conversion.model`` gives.
    """
    loaded = load(model, base_dir)
    require_sound(loaded.proto)
    source = opset_of(loaded.proto)
    target = _target(source, request)
    with _original(loaded, request) as original:
        working = loaded if loaded.path is not None or request.in_place else replace(loaded, proto=_copy(loaded.proto))
        conversion, pairs = _rewritten(working, source, target, request)
        conversion._wrap = wrap
        _judge_and_publish(conversion, pairs, original, request)
    return conversion


def _target(source: int, request: Request) -> Target:
    opset = source if request.opset is None else request.opset
    if request.opset is None and request.to is None:
        raise Usage("no-target", "no target: an opset or a dialect is needed", hint="opset=N or to='ai.onnx'")
    if not OLDEST <= opset <= NEWEST:
        raise Usage(
            "unknown-opset",
            f"opset {opset} is no target",
            why=f"opsets {OLDEST} to {NEWEST} are known",
            hint=f"--opset {min(max(opset, OLDEST), NEWEST)}",
        )
    if request.to is not None and request.to not in all_dialects():
        raise Usage("unknown-dialect", f"'{request.to}' is no dialect", hint=f"one of {', '.join(all_dialects())}")
    return Target(opset, request.to, request.exact, request.allow_approximate, request.prefer, request.simplify)


def _copy(proto: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(proto)
    return copy


@contextmanager
def _original(loaded: Loaded, request: Request) -> Iterator[Path | None]:
    """The original as a file for the check; None when there is no check."""
    if not request.check:
        yield None
    elif loaded.path is not None:
        yield loaded.path
    else:
        with tempfile.TemporaryDirectory(prefix="qdqtool-") as folder:
            path = Path(folder) / "original.onnx"
            path.write_bytes(loaded.proto.SerializeToString())
            yield path


def _rewritten(loaded: Loaded, source: int, target: Target, request: Request) -> tuple[Conversion, list[Probe]]:
    proto, builder, notes = _planned(loaded, target)
    plan = builder.plan
    before, idle = proto.ir_version, plan.idle and source == target.opset
    pairs = list(probes(builder)) if request.check else []
    respelled = [_respelled(builder.view.title(place), entry.what, _operand_bytes(entry.step)) for place, entry in plan.respells.items()]
    sizes = {place: _operand_bytes(entry.before or entry.step) for place, entry in plan.replaces.items()}
    titles = {place: builder.view.title(place) for place in (*plan.replaces, *plan.adapts)}
    notes += [f"{len(plan.hoists)} Constant nodes became initializers: the target lacks their form or type"] if plan.hoists else []
    notes += [*plan.notes, *(f"{builder.view.title(e.place)}: {', '.join(map(str, e.edits))}" for e in plan.edits)]
    pending: dict[str, Source] = {}
    changes: tuple[Change, ...] = ()
    if not idle:
        applied = apply_plan(builder.view, plan, builder.facts, loaded.base_dir)
        pending = applied.pending
        written = {place: len(nodes) for place, nodes in applied.written.items()}
        changes = (*respelled, *(_change(titles[p], e, written[p], sizes[p]) for p, e in plan.replaces.items()))
        changes += tuple(_adapted(titles[p], e, written[p]) for p, e in plan.adapts.items())
    if not idle or request.ir_version is not None:
        notes += settle_ir_version(proto, source_opset=source, target_opset=target.opset, wanted=request.ir_version)
    unchanged = idle and proto.ir_version == before
    result = Conversion(source, target.opset, (before, proto.ir_version), changes, tuple(notes), plan.kept)
    result._proto, result._pending, result._loaded, result._unchanged = proto, pending, loaded, unchanged
    result._rounded = tuple(plan.rounded)
    return result, pairs


def _planned(loaded: Loaded, target: Target) -> tuple[ModelProto, Builder, list[str]]:
    """A plan without refusals; functions that stand in the way are inlined first."""
    proto, notes = loaded.proto, list[str]()
    for _ in range(_INLININGS):
        builder = Builder(View(proto), target, loaded.base_dir)
        plan = builder.build()
        if not plan.refusals:
            return proto, builder, notes
        inlinable = sorted({(path[1], path[2]) for path in plan.inline if path[0] == "function"})
        if not inlinable or any(r.scope == MAIN and not plan.inline for r in plan.refusals):
            break
        notes.append(f"inlined first, since a call decides what they mean: {', '.join(name for _, name in inlinable)}")
        proto = inliner.inline_selected_functions(proto, inlinable)
    raise _refused(plan.refusals, builder, target)


def _refused(refusals: list[Any], builder: Builder, target: Target) -> Refused:
    total = len(builder.lifted)
    steps = sum(r.code != "operator" for r in refusals)
    others = len(refusals) - steps
    parts = [
        f"{steps} of {total} quantize/dequantize nodes" if steps else "",
        f"{others} other node{'s' if others != 1 else ''}" if others else "",
    ]
    message = f"opset {target.opset} cannot express {' and '.join(p for p in parts if p)}"
    return Refused(message, refusals)


def _change(where: str, entry: Replace, nodes: int, before: int) -> Change:
    after = sum(_nbytes(c) for _, expr in entry.outputs for c in _operator_constants(expr))
    return Change(where, entry.what, entry.how, entry.exactness, entry.bound, (1 + len(entry.claimed), nodes), (before, after))


def _adapted(where: str, entry: Adapt, nodes: int) -> Change:
    after = sum(_nbytes(c) for c in entry.constants.values())
    return Change(where, entry.what, entry.how, entry.exactness, entry.bound, (1, nodes), (0, after))


def _respelled(where: str, what: str, size: int) -> Change:
    return Change(where, what, (), Exactness.BIT_EQUAL, NO_BOUND, (1, 1), (size, size))


def _operand_bytes(said: Expr | None) -> int:
    return 0 if said is None else sum(_nbytes(c) for c in _operator_constants(said))


def _operator_constants(expr: Expr) -> Iterable[Stored | LiteralConst | Computed]:
    found: dict[Stored | LiteralConst | Computed, None] = {}
    stack: list[Expr | None] = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Op | Step):
            stack += children(part)
        elif isinstance(part, Stored | LiteralConst | Computed):
            found[part] = None
    return found


def _nbytes(const: Stored | LiteralConst | Computed) -> int:
    return const.dtype.nbytes(prod(const.shape))


def _judge_and_publish(conversion: Conversion, pairs: list[Probe], original: Path | None, request: Request) -> None:
    if original is None and request.output is None:
        return
    with _place(conversion, request) as (path, final):
        staged = conversion.stage(path, request.external_data)
        try:
            if original is not None:
                conversion.check = _checked(original, staged, pairs, conversion, request)
            if final:
                staged.publish()
        finally:
            staged.discard()


@contextmanager
def _place(conversion: Conversion, request: Request) -> Iterator[tuple[Path, bool]]:
    """Where to stage: beside the output, else beside the data, else in a temporary folder."""
    loaded = conversion._loaded
    assert loaded is not None
    with tempfile.TemporaryDirectory(prefix="qdqtool-") as folder:
        if request.output is not None:
            yield request.output, True
        elif loaded.base_dir is not None and any(external.is_external(t) for t in walk.tensors(conversion._proto)):
            yield loaded.base_dir / "qdqtool-check.onnx", False
        else:
            yield Path(folder) / "result.onnx", False


def _checked(original: Path, staged: Staged, pairs: list[Probe], conversion: Conversion, request: Request) -> Report:
    loaded = conversion._loaded
    assert loaded is not None
    report = check(original, staged.model, pairs, options=replace(request.options, base_dir=loaded.base_dir, rounded=conversion._rounded))
    if report.verdict == "different":
        raise CheckFailed(
            "the rewritten model differs from the original; nothing was written", report, hint="please report this with the model"
        )
    if request.require_check and not report.complete:
        raise CheckFailed(
            "the check was required but could not be completed; nothing was written", report, hint="leave out --require-check"
        )
    return report
