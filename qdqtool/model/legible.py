"""Names that are text: protobuf lets any bytes through, and Python then gets bytes where everything expects words."""

from __future__ import annotations

from qdqtool.errors import Unreadable
from qdqtool.model.graph import Scope, View


def require_text(view: View, where: str = "") -> None:
    """Unreadable when a name in the model is no UTF-8."""
    try:
        for scope in view.scopes.values():
            _scope(scope)
    except TypeError:
        why = "a name of a node, value, operator or attribute is no UTF-8 text"
        raise Unreadable("damaged-model", "the model is damaged", where=where, why=why, hint="fetch or export it again") from None


def _scope(scope: Scope) -> None:
    """The names that the view has collected (of operands those that mean something), and those that it has not."""
    "".join((scope.body.name, *scope.path, *scope.imports, *scope.inputs, *scope.outputs))
    for names in (scope.producers, scope.initializers, scope.sparse, scope.found):
        "".join(names)
    "".join([node.name for node in scope.nodes])
    "".join({node.op_type for node in scope.nodes} | {node.domain for node in scope.nodes})
    "".join([attribute.name for node in scope.nodes for attribute in node.attribute])
