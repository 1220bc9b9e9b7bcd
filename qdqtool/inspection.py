"""What a model holds: opsets, ``ir_version``, functions, and its quantized nodes counted by form. No weight is read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from onnx import FunctionProto, NodeProto, defs

from qdqtool import capabilities
from qdqtool.dialects import readable_operators
from qdqtool.expressions import Expr, Op, Stored, nbytes, walk
from qdqtool.model.graph import MAIN, Scope, View, domain
from qdqtool.model.load import Loaded
from qdqtool.plan.constants import Constants
from qdqtool.plan.patterns import attributes_of
from qdqtool.plan.types import Types, resolved
from qdqtool.quantization import ByScale, Granularity, Meaning
from qdqtool.spelling import Operand, Spelling, read

DEFAULT = "ai.onnx"
UNKNOWN = Operand(None, None)
MARKS = ("Quant", "quant", "QLinear", "QGemm", "QMoE", "QAttention", "QEmbed", "Integer", "NBits", "Bnb4")


@dataclass(frozen=True, slots=True)
class Form:
    """What quantized nodes of one kind have in common; empty where the graph does not tell, or the operator is no Q or DQ."""

    domain: str
    op: str
    version: int | None
    storage: str = ""
    expressed: str = ""
    granularity: str = ""
    scale: str = ""


@dataclass(frozen=True, slots=True)
class FormCount:
    """Number of nodes of a form and the bytes of the distinct constants they read."""

    form: Form
    nodes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """The record of ``qdqtool inspect``.

    Attributes
    ----------
    path : str
        File, or empty for a model in memory.
    ir_version : int
    producer : str
    imports : dict of str to int
        Opset by domain; the default domain is ``ai.onnx``.
    functions : dict of str to int
        Number of calls by ``domain::name`` of each local function.
    nodes : int
        All nodes, in subgraphs and functions too.
    quantized : tuple of FormCount
        Ordered by domain, operator and form.
    """

    path: str
    ir_version: int
    producer: str
    imports: dict[str, int]
    functions: dict[str, int]
    nodes: int
    quantized: tuple[FormCount, ...]

    @property
    def opset(self) -> int | None:
        """Opset of the default domain."""
        return self.imports.get(DEFAULT)

    def to_dict(self) -> dict[str, Any]:
        """The record as data."""
        record = asdict(self)
        record["quantized"] = [row["form"] | {"nodes": row["nodes"], "bytes": row["bytes"]} for row in record["quantized"]]
        return record


def inspect(loaded: Loaded) -> Inspection:
    """Count what the model holds."""
    proto, view = loaded.proto, View(loaded.proto)
    types = Types(view)
    constants = Constants(view, types, loaded.base_dir)
    nodes: Counter[Form] = Counter()
    stored: dict[Form, set[Stored]] = defaultdict(set)
    for _, scope, node in view.places():
        if _quantized(node) and not view.function_of(node):
            operands = [constants.expression(scope, name) if name else None for name in node.input]
            form = _form(resolved(node, types.bindings.get(scope.root().path, {})), scope, operands)
            nodes[form] += 1
            stored[form].update(leaf for operand in operands if operand for leaf in walk(operand) if isinstance(leaf, Stored))
    quantized = tuple(FormCount(form, nodes[form], sum(map(nbytes, stored[form]))) for form in sorted(nodes, key=_order))
    imports = {name or DEFAULT: version for name, version in view.scopes[MAIN].imports.items()}
    producer = " ".join(part for part in (proto.producer_name, proto.producer_version) if part)
    path = str(loaded.path or "")
    return Inspection(path, proto.ir_version, producer, imports, _calls(view), sum(1 for _ in view.places()), quantized)


def _calls(view: View) -> dict[str, int]:
    """Calls of each local function."""
    calls = Counter({_qualified(function): 0 for function in view.proto.functions})
    calls.update(_qualified(function) for _, _, node in view.places() if (function := view.function_of(node)))
    return dict(calls)


def _qualified(function: FunctionProto) -> str:
    return "::".join(part for part in (function.domain, function.name, function.overload) if part)


def _quantized(node: NodeProto) -> bool:
    return any(mark in node.op_type for mark in MARKS) or (domain(node.domain), node.op_type) in readable_operators()


def _order(form: Form) -> tuple[str | int, ...]:
    return form.domain, form.op, form.version or 0, form.storage, form.granularity, form.scale, form.expressed


def _form(node: NodeProto, scope: Scope, operands: Sequence[Expr | None]) -> Form:
    name = domain(node.domain)
    imported = scope.imports.get(name)
    step = capabilities.operators().get((name, node.op_type))
    row = capabilities.row_at(*step, imported or 1) if step else None
    if row is None or len(operands) < 2:
        return _fused(node, name, imported, operands)
    x, scale, zero_point, *_ = (*map(_operand, operands), None)
    meaning = read(Spelling({a.name: a.i for a in node.attribute}, x or UNKNOWN, scale or UNKNOWN, zero_point), row)
    return _said(Form(name or DEFAULT, node.op_type, row.version), meaning)


def _fused(node: NodeProto, name: str, imported: int | None, operands: Sequence[Expr | None]) -> Form:
    """An operator that is no single step, with what it says about its weights if its dialect is known."""
    form = Form(name or DEFAULT, node.op_type, _version(node.op_type, name, imported))
    dialect, attributes = readable_operators().get((name, node.op_type)), attributes_of(node, strings=True)
    if dialect is None or attributes is None:
        return form
    dtype, shape = dialect.result(node.op_type, dict(attributes), operands)
    meaning = None if dtype is None else dialect.meaning(Op(node.op_type, tuple(operands), attributes, dtype, shape, name))
    return form if meaning is None else _said(form, meaning)


def _said(form: Form, meaning: Meaning) -> Form:
    said = (meaning.storage, meaning.expressed, _granularity(meaning.granularity), meaning.scale_type)
    storage, expressed, granularity, scale = ("" if part is None else str(part) for part in said)
    return replace(form, storage=storage, expressed=expressed, granularity=granularity, scale=scale)


def _operand(expr: Expr | None) -> Operand | None:
    return None if expr is None else Operand(expr.dtype, expr.shape)


def _granularity(granularity: Granularity | None) -> str:
    match granularity:
        case None:
            return ""
        case ByScale(axis):
            return f"per tensor or axis {axis}"
    return str(granularity)


def _version(op: str, name: str, imported: int | None) -> int | None:
    if imported is None or not defs.has(op, imported, name):
        return imported
    return int(defs.get_schema(op, imported, name).since_version)
