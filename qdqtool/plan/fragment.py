"""What stands for a replaced node, as a small graph for the check."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import NodeProto

from qdqtool.check.probe import Fragment, Port
from qdqtool.expressions import Const, Expr
from qdqtool.model.names import Names
from qdqtool.plan.emit import Emitter, constant_name
from qdqtool.plan.facts import Facts


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
