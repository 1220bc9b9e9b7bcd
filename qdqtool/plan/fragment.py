"""What stands for a replaced node, as a small graph for the check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx import NodeProto

from qdqtool.check.probe import Fragment, Port
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Const, Expr, Runtime, Shape
from qdqtool.kernels.sources import Source
from qdqtool.model.graph import Scope
from qdqtool.model.names import Names
from qdqtool.plan.constants import Constants
from qdqtool.plan.emit import Emitter, constant_name
from qdqtool.plan.facts import Facts


def entering(read: Iterable[Expr], constants: Constants, scope: Scope) -> tuple[Port, ...]:
    """The run-time values among what is read in `scope`, those of unknown type left out; each with the default that it has."""
    values = [e for e in read if isinstance(e, Runtime)]
    defaults = {e.name: constants.default(scope, e.name) for e in values}
    return tuple(_port(e.name, e.dtype, e.shape, defaults[e.name]) for e in values if e.dtype is not None)


def _port(name: str, dtype: ElementType, shape: Shape | None, default: Source | None) -> Port:
    return Port(name, dtype, shape if default is None else default.shape, default)


def replacement(facts: Facts, opset: int, original: NodeProto, expr: Expr, inputs: Sequence[Port], output: Port) -> Fragment:
    """The nodes that `expr` becomes in place of `original`, with the constants they read."""
    constants: dict[Const, str] = {}
    names = Names([*(port.name for port in inputs), *original.input, *original.output])

    def name_of(const: Const, wanted: str) -> str:
        if const not in constants:
            constants[const] = names.fresh(constant_name(const, wanted))
        return constants[const]

    emitter = Emitter(names, name_of, original)
    emitter.write(expr, output.name)
    imports = {"": opset, **{n.domain: 1 for n in emitter.nodes if n.domain}}
    sources = {name: facts.source(const) for const, name in constants.items()}
    return Fragment(tuple(emitter.nodes), imports, tuple(inputs), (output,), sources)
