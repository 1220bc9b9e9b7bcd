"""Folding: what constants say already is computed now. Decides what, and writes it down as a plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.expressions import Computed, Expr, Literal, Runtime, Stored, walk
from qdqtool.model.graph import Definition, Key, Place, View
from qdqtool.model.walk import tensors
from qdqtool.passes.choosing import Chosen, choose
from qdqtool.passes.finding import Finder
from qdqtool.passes.given import Given
from qdqtool.passes.reading import read
from qdqtool.passes.tidy import plan_tidy
from qdqtool.passes.wishes import Found, Wishes
from qdqtool.plan import liveness
from qdqtool.plan.entries import Plan, Replace, Settle
from qdqtool.plan.forms import fill


@dataclass(slots=True)
class Folds:
    """A plan, the folds it carries out in the order of the model, and what it knows of the model."""

    given: Given
    plan: Plan
    bytes: int
    """Of all constants before."""
    folds: list[Found] = field(default_factory=list)
    said: dict[Place, Expr] = field(default_factory=dict)
    """What each gives, of values as they are called before."""
    nodes: dict[Place, int] = field(default_factory=dict)
    """How many nodes go with each fold."""
    tidied: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """On patterns that fit nothing."""
    foldable: int = 0
    """Dequantize nodes of constants that stay."""


def plan_folds(view: View, base_dir: Path | None, wishes: Wishes) -> Folds:
    """What to fold in a model."""
    given = read(Given(view, base_dir))
    before = constant_bytes(view.proto)
    chosen = choose(given, wishes, before)
    plan = Plan(given.target(Place((), 0)), keeps_imports=True)
    found = Folds(given, plan, before, sorted(chosen.folds.values(), key=lambda f: (f.place.scope, f.place.index)))
    finder, finals = Finder(given, wishes), _Finals(chosen, given)
    for fold in found.folds:
        found.said[fold.place] = _said(fold, finder)
        _enter(fold, found.said[fold.place], finals, given, plan)
    plan.dead |= chosen.gone - plan.replaces.keys()
    plan.dead |= liveness.dead_nodes(view, plan)
    found.nodes, found.remarks = _counted(found), chosen.remarks
    found.tidied = plan_tidy(given, plan, chosen.read) if wishes.tidy else []
    kept = [place for place in given.lifted if place not in plan.dead]
    plan.kept = len(kept)
    found.foldable = sum(1 for place in kept if place in given.made and given.lifted[place].step.meaning.kind == "dequantize")
    return found


def constant_bytes(proto: ModelProto) -> int:
    """Bytes of all constants of a model in storage."""
    headers = Counter([(tensor.data_type, *tensor.dims[:]) for tensor in tensors(proto)])
    types = ((dtypes.of_code(code), prod(dims), count) for (code, *dims), count in headers.items())
    return sum(dtype.nbytes(elements) * count for dtype, elements, count in types if dtype is not None)


def _enter(fold: Found, said: Expr, finals: _Finals, given: Given, plan: Plan) -> None:
    name = given.view.node(fold.place).output[0]
    key = Key(fold.place.scope, name)
    read = () if isinstance(said, Computed | Literal | Stored) else (leaf for leaf in walk(said) if isinstance(leaf, Runtime))
    final: dict[Expr, Expr] = {leaf: finals.of(leaf, fold.place) for leaf in read}
    expr, fixed = fill(said, final) if final else said, given.is_result(key)
    new = isinstance(expr, Computed | Literal)
    if isinstance(expr, Computed | Literal | Stored | Runtime) and (new or not fixed):
        plan.settles[fold.place] = Settle(fold.place, key, expr, fixed or (new and name in given.shadowed))
    else:
        plan.replaces[fold.place] = Replace(fold.place, ((name, expr),), fold.what, (fold.kind,), fold.exactness, fold.bound, fold.step)


def _said(fold: Found, finder: Finder) -> Expr:
    """The result of a fold as an expression, of values as they are called before it."""
    found = fold.by if fold.step is None else finder.native(fold.place, fold.step)
    assert found is not None
    return found


class _Finals:
    """What stands for values that are folded themselves; long chains are followed once."""

    def __init__(self, chosen: Chosen, given: Given) -> None:
        self._folds, self._given = chosen.folds, given
        self._known: dict[Key, Runtime | Stored] = {}

    def of(self, value: Runtime, place: Place) -> Runtime | Stored:
        """What a node at `place` reads instead of a value."""
        scope, passed = self._given.view.scopes[place.scope], list[Key]()
        found: Runtime | Stored = value
        while isinstance(found, Runtime) and (at := self._given.view.find(scope, found.name)) is not None:
            below = self._known.get(at.key) or self._by(at)
            if below is None:
                break
            passed.append(at.key)
            found = below
        self._known |= dict.fromkeys(passed, found)
        return found

    def _by(self, value: Definition) -> Runtime | Stored | None:
        """The value that another one is folded to, if its name does not outlive that."""
        fold = self._folds.get(Place(value.key.scope, value.index)) if value.kind == "node" else None
        by = None if fold is None or self._given.is_result(value.key) else fold.by
        return by if isinstance(by, Runtime | Stored) else None


def _counted(found: Folds) -> dict[Place, int]:
    """The nodes that go with each fold, each counted once."""
    counted: set[Place] = set()
    count = {}
    for fold in found.folds:
        own = {p for p in (*fold.nodes, fold.place) if p in found.plan.dead or p == fold.place} - counted
        counted |= own
        count[fold.place] = len(own)
    return count
