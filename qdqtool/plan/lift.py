"""Reading every quantize and dequantize node: what it means at the source, and whether it means the same at the target."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from onnx import NodeProto

from qdqtool.capabilities import Row, operators, row_at
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Expr, Runtime, Step
from qdqtool.model.graph import Key, Place, Scope, View, domain
from qdqtool.plan.constants import Constants
from qdqtool.plan.target import Target
from qdqtool.plan.types import Types, resolved
from qdqtool.quantization import Meaning
from qdqtool.spelling import Operand, Spelling, read, write


@dataclass(frozen=True, slots=True)
class Lifted:
    """One quantize or dequantize node. `alone`: the node as written means the same at the target."""

    place: Place
    step: Step
    source: Row
    alone: bool

    @property
    def storage(self) -> ElementType | None:
        return self.step.meaning.storage


def is_step(node: NodeProto) -> bool:
    """A quantize or dequantize of a known dialect."""
    return (domain(node.domain), node.op_type) in operators()


def lift_all(view: View, types: Types, constants: Constants, target: Target) -> dict[Place, Lifted]:
    """Every step of the model that its source version knows."""
    found = {}
    seen: dict[Hashable, tuple[Meaning, bool]] = {}
    for place, scope, node in view.places():
        if is_step(node) and node.output:
            whole = resolved(node, types.bindings.get(scope.root().path, {}))
            lifted = lift_one(place, scope, whole, types, constants, target, seen)
            if lifted is not None:
                found[place] = lifted
                types.learn(Key(place.scope, node.output[0]), lifted.step.dtype, lifted.step.shape)
    return found


def lift_one(
    place: Place,
    scope: Scope,
    node: NodeProto,
    types: Types,
    constants: Constants,
    target: Target,
    seen: dict[Hashable, tuple[Meaning, bool]],
) -> Lifted | None:
    """One step, its attribute references resolved; nodes that differ only in names are read once, which `seen` remembers."""
    home, given, attributes = domain(node.domain), node.input[:], node.attribute[:]
    dialect, kind = operators()[home, node.op_type]
    source = row_at(dialect, kind, scope.imports.get(home, 1))
    if source is None or (attributes and any(a.ref_attr_name for a in attributes)):
        return None
    names = [given[slot] if slot < len(given) else "" for slot in source.order]
    if not (names[0] and names[1]):
        return None
    operands = [constants.expression(scope, name) for name in names if name]
    if isinstance(operands[0], Runtime) and operands[0].shape is None:
        operands[0] = replace(operands[0], shape=types.at(scope, node.output[0]).shape)
    if isinstance(operands[0], Runtime) and operands[0].dtype is None and kind == "dequantize" and len(operands) > 2:
        operands[0] = _typed_by_zero_point(operands[0], operands[2], scope, types)
    said = [(a.name, a.i) for a in attributes]
    key = (dialect, kind, scope.root().path, tuple(said), tuple([(o.dtype, o.shape) for o in operands]))
    if key not in seen:
        seen[key] = _read(_spelling(said, operands, source), [name for name, _ in said], source, target, scope.imports)
    meaning, alone = seen[key]
    x, scale, *zero = operands
    result = meaning.storage if kind == "quantize" else meaning.expressed
    return Lifted(place, Step(meaning, x, scale, zero[0] if zero else None, result, x.shape), source, alone)


def _typed_by_zero_point(codes: Runtime, zero_point: Expr, scope: Scope, types: Types) -> Runtime:
    """Codes that an operator unknown to inference makes have the type of their zero point."""
    found = types.view.find(scope, codes.name)
    if found is not None:
        types.learn(found.key, zero_point.dtype, codes.shape)
    return replace(codes, dtype=zero_point.dtype)


def _spelling(attributes: Iterable[tuple[str, int]], operands: list[Expr], row: Row) -> Spelling:
    x, scale, *zero = (Operand(o.dtype, o.shape) for o in operands)
    return Spelling({row.ours(name): value for name, value in attributes}, x, scale, zero[0] if zero else None)


def _read(spelling: Spelling, names: list[str], source: Row, target: Target, imports: Mapping[str, int]) -> tuple[Meaning, bool]:
    """What the node means at the source, and whether it can stay as it is."""
    meaning = read(spelling, source)
    return meaning, _alone(spelling, names, source, target, imports) and _runs(
        meaning, names, source, target, spelling.zero_point is not None
    )


def _alone(spelling: Spelling, names: list[str], source: Row, target: Target, imports: Mapping[str, int]) -> bool:
    if target.dialect is not None and source.dialect != target.dialect:
        asked = row_at(target.dialect, source.kind, target.versions(imports).get(target.dialect, 1))
        if asked is None or target.splits or _sayable(spelling, source, asked):
            return False
    if source.dialect != "ai.onnx" or target.opset == imports.get("", 1):
        return True
    row = row_at("ai.onnx", source.kind, target.opset)
    return row is not None and _moves(spelling, names, source, row)


def _runs(meaning: Meaning, names: list[str], source: Row, target: Target, zero_point: bool) -> bool:
    """The target's runtime, if it names one, runs the node as written."""
    row = row_at("ai.onnx", source.kind, target.opset) if source.dialect == "ai.onnx" else source
    return row is not None and target.runs(row, meaning, names, zero_point=zero_point)


def _sayable(spelling: Spelling, source: Row, asked: Row) -> bool:
    meaning = read(spelling, source)
    return isinstance(write(meaning, spelling.x, spelling.scale, spelling.zero_point, asked), dict)


def _moves(spelling: Spelling, names: list[str], source: Row, row: Row) -> bool:
    """`row` accepts the node as written and reads the same meaning from it."""
    if any(name not in row.attributes for name in names):
        return False
    meaning = read(spelling, source)
    return _types_pass(meaning, source, row) and _shapes_pass(spelling, source, row) and read(spelling, row) == meaning


def _types_pass(meaning: Meaning, source: Row, row: Row) -> bool:
    pairs = (
        (meaning.storage, source.storage, row.storage),
        (meaning.expressed, source.expressed, row.expressed),
        (meaning.scale_type, source.scale, row.scale),
    )
    if any(not (old <= new if dtype is None else dtype in new) for dtype, old, new in pairs):
        return False
    if row.linked and (meaning.scale_type is None or meaning.expressed is None):
        return source.linked or (len(row.scale) == 1 and len(row.expressed) == 1)
    return not row.linked or meaning.scale_type is meaning.expressed


def _shapes_pass(spelling: Spelling, source: Row, row: Row) -> bool:
    if row.vector or row is source:
        return True
    return spelling.scale.shape in ((), (1,)) or (spelling.scale.shape is None and not source.vector)


def with_carrier(lifted: Lifted, carrier: ElementType) -> Step:
    """The step with its codes in another type: a dequantize reads them so, a quantize gives them so."""
    if lifted.step.meaning.kind == "quantize":
        return replace(lifted.step, dtype=carrier)
    return replace(lifted.step, x=replace(lifted.step.x, dtype=carrier))
