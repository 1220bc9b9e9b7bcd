"""Which values are constants: initializers that no input overrides and no training updates, Constant nodes, and Identity or Cast chains
behind them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from qdqtool import dtypes
from qdqtool.errors import Unreadable
from qdqtool.expressions import Computed, Const, Expr, Runtime, Stored, nbytes
from qdqtool.kernels.sources import Source
from qdqtool.model import tensors, trained
from qdqtool.model.graph import MAIN, Definition, Key, Scope, ScopePath, View, domain
from qdqtool.plan.types import Types

_SMALL = 4096
"""Bytes."""
_LARGEST_DEFAULT = 1 << 20
"""Bytes."""
_NARROW = 16
"""Bits up to which integers are codes, of which any will do."""


class Constants:
    """Names to expressions, and stored constants to their data.

    With `skip`, a constant whose data is missing or damaged counts as a run-time value, so that nobody stumbles over it.
    `pending` is the data of new constants, by name, that are computed when the model is written.
    """

    def __init__(
        self, view: View, types: Types, base_dir: Path | None, *, skip: bool = False, pending: Mapping[str, Source] = MappingProxyType({})
    ) -> None:
        self._view, self._types, self._base_dir, self._skip, self._pending = view, types, base_dir, skip, pending
        self._known: dict[Key, Const | None] = {}
        self._opened: dict[tuple[ScopePath, str], Source] = {}
        self._trained = trained.updated(view.proto)

    def expression(self, scope: Scope, name: str) -> Expr:
        """What `name` holds: a constant where it is one, else a run-time value."""
        found = self._view.find(scope, name)
        if found is None:
            return Runtime(name, None, None)
        const = self.constant(found)
        if const is not None:
            return const
        known = self._types.of(found.key)
        return Runtime(name, known.dtype, known.shape)

    def constant(self, found: Definition) -> Const | None:
        """The constant behind a definition; None for a run-time value."""
        key, answers = found.key, self._known
        if key not in answers:
            answers[key] = self._resolve(found)
        return answers[key]

    def default(self, scope: Scope, name: str) -> Source | None:
        """What an input of wide integers holds unless somebody feeds it: an initializer; axes and shapes, as a rule."""
        found = self._view.find(scope, name)
        tensor = None if found is None or found.kind == "node" else self._view.scopes[found.key.scope].initializers.get(name)
        dtype = None if tensor is None else dtypes.of_code(tensor.data_type)
        if found is None or tensor is None or dtype is None or not dtype.integer or dtype.bits <= _NARROW:
            return None
        stored = Stored(found.key.scope, name, dtype, tuple(tensor.dims))
        return self.open(stored) if nbytes(stored) <= _LARGEST_DEFAULT and self._opens(stored) else None

    def learn(self, key: Key, const: Const) -> None:
        """A value that somebody else has found to be constant."""
        self._known[key] = const

    def _resolve(self, found: Definition) -> Const | None:
        scope = self._view.scopes[found.key.scope]
        if found.kind == "input":
            return None
        if found.kind == "initializer":
            stored = found.key.name in scope.initializers and not (found.key.scope == MAIN and found.key.name in self._trained)
            return self._stored(found.key) if stored else None
        node = scope.nodes[found.index]
        if domain(node.domain):
            return None
        if node.op_type == "Constant":
            return self._stored(found.key) if tensors.constant_header(node) is not None else None
        if node.op_type not in ("Identity", "Cast") or not node.input or any(a.ref_attr_name for a in node.attribute):
            return None
        below = self._view.find(scope, node.input[0])
        const = None if below is None else self.constant(below)
        return const if const is None or node.op_type == "Identity" else self._cast(const, {a.name: a.i for a in node.attribute})

    def _stored(self, key: Key) -> Stored | None:
        known = self._types.of(key)
        dtype, shape = known.dtype, known.shape
        if dtype is None or shape is None or dtype.kind in ("string", "complex"):
            return None
        stored = Stored(key.scope, key.name, dtype, tuple([d for d in shape if d is not None]))
        return None if self._skip and not self._opens(stored) else stored

    def _opens(self, const: Stored) -> bool:
        try:
            self.open(const)
        except Unreadable:
            return False
        return True

    def _cast(self, const: Const, attributes: dict[str, int]) -> Const | None:
        to = dtypes.of_code(attributes.get("to", 0))
        if to is None or to.kind in ("string", "complex"):
            return None
        if to is const.dtype:
            return const
        return Computed("onnx_cast", (const,), (to, bool(attributes.get("saturate", 1))), to, const.shape)

    def open(self, const: Stored) -> Source:
        """The data of a stored constant, unread; small ones are asked for often, and stay open."""
        key = const.scope, const.name
        source = self._opened.get(key)
        if source is None:
            source = self._source(const)
            if nbytes(const) <= _SMALL:
                self._opened[key] = source
        return source

    def _source(self, const: Stored) -> Source:
        scope = self._view.scopes[const.scope]
        if const.name in self._pending:
            return self._pending[const.name]
        if const.name in scope.initializers:
            return tensors.source(scope.initializers[const.name], self._base_dir)
        return tensors.constant_source(scope.nodes[scope.producers[const.name][0]], self._base_dir)
