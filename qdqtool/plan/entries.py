"""What a plan consists of. An entry names places and values by scope and index or name, never a protobuf object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onnx import NodeProto

from qdqtool.check.probe import Rounded
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.expressions import Const, Expr, Literal, Runtime, Step
from qdqtool.model.graph import Key, Place, ScopePath
from qdqtool.opsets.edits import AttributeEdit
from qdqtool.plan.target import Target


@dataclass(frozen=True, slots=True)
class Replace:
    """The node at `place` becomes these expressions, one for each of its outputs; `step` is what they stand for.

    Of a raised pattern the place is the last node, `claimed` are the others and `before` is what they all said; of a fused operator
    there is no step. `remarks` are metadata that the node that writes the output gains, or (None) loses.
    """

    place: Place
    outputs: tuple[tuple[str, Expr], ...]
    what: str
    how: tuple[str, ...]
    exactness: Exactness
    bound: Bound
    step: Step | None = None
    claimed: tuple[Place, ...] = ()
    before: Expr | None = None
    remarks: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Respell:
    """The step at `place` keeps its node and operands and changes attributes: new values, or None for one that goes."""

    place: Place
    attributes: tuple[tuple[str, int | None], ...]
    what: str
    step: Step


@dataclass(frozen=True, slots=True)
class Settle:
    """The node at `place` goes: who reads its result `key` gets `by`, a constant that takes over the name, or another value.

    A name that is `fixed`, since a graph gives it as its result, is taken over by a constant of its own.
    """

    place: Place
    key: Key
    by: Const | Runtime
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Rewire:
    """Input `slot` of a node that stays reads a re-encoded constant."""

    place: Place
    slot: int
    const: Const


@dataclass(frozen=True, slots=True)
class Retype:
    """A value keeps its elements but changes its type."""

    key: Key
    dtype: ElementType


@dataclass(frozen=True, slots=True)
class Edit:
    """A node that stays loses or gains attributes without changing its meaning."""

    place: Place
    edits: tuple[AttributeEdit, ...]


@dataclass(frozen=True, slots=True)
class Adapt:
    """A node that is no step becomes these nodes, in words of the target.

    They read values of the model (`reads`), each other, and the new `constants`; the names of those two are unique only here.
    """

    place: Place
    nodes: tuple[NodeProto, ...]
    constants: Mapping[str, Literal]
    reads: frozenset[str]
    what: str
    how: tuple[str, ...]
    exactness: Exactness
    bound: Bound


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one place cannot go: `at` in words, a stable code, the reasons nearest to success, and a way out."""

    at: str
    code: str
    reasons: tuple[str, ...]
    hint: str = ""
    because: Refusal | None = None
    scope: ScopePath = ()

    def __str__(self) -> str:
        return f"{self.at}: {'; '.join(self.reasons)}" + (f" (hint: {self.hint})" if self.hint else "")


@dataclass(slots=True)
class Plan:
    """Everything that a conversion will do, or why it will do nothing.

    `hoists` are Constant nodes whose form or type the target lacks; each becomes an initializer of the same name.
    `rounded` are nodes that stay but that ONNX Runtime computes in another order.
    `drops` are functions that nobody calls and the target cannot say, `unread` initializers that nobody reads.
    With `keeps_imports` opset imports stay as they are.
    """

    target: Target
    replaces: dict[Place, Replace] = field(default_factory=dict)
    respells: dict[Place, Respell] = field(default_factory=dict)
    settles: dict[Place, Settle] = field(default_factory=dict)
    hoists: set[Place] = field(default_factory=set)
    rewires: list[Rewire] = field(default_factory=list)
    retypes: list[Retype] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    adapts: dict[Place, Adapt] = field(default_factory=dict)
    dead: set[Place] = field(default_factory=set)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: int = 0
    rounded: list[Rounded] = field(default_factory=list)
    drops: set[ScopePath] = field(default_factory=set)
    unread: set[Key] = field(default_factory=set)
    keeps_imports: bool = False
    inline: set[ScopePath] = field(default_factory=set)

    @property
    def idle(self) -> bool:
        """No node and no value changes."""
        changed = self.replaces or self.respells or self.hoists or self.rewires or self.retypes or self.edits or self.adapts
        return not (changed or self.settles or self.dead or self.unread)
