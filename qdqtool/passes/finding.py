"""What can be folded at one node, given who still reads its result: at most one way, the first of those that apply."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace

from qdqtool import dtypes
from qdqtool.expressions import Computed, Op, Runtime, Step, Stored, nbytes
from qdqtool.model.graph import Key, Place, label
from qdqtool.passes.coarse import Coarse
from qdqtool.passes.given import Given, Made
from qdqtool.passes.movers import OPERATORS as MOVERS
from qdqtool.passes.pairing import paired
from qdqtool.passes.selection import Pattern, Traits
from qdqtool.passes.wishes import Found, Kind, Wishes, behind, stored
from qdqtool.plan.choices import Choice
from qdqtool.plan.lift import Lifted


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads a value: operators, and as what a step reads it ("x", "parameter"; "other" for every other operator)."""

    operators: tuple[str, ...]
    roles: frozenset[str]


class Finder:
    """Looks for folds in one model; `fitted` are the patterns that fitted any so far."""

    def __init__(self, given: Given, wishes: Wishes) -> None:
        self._given, self._wishes = given, wishes
        self._coarse = Coarse(given.facts, wanted=self._asked("collapse"))
        self.fitted: set[Pattern] = set()

    def find(self, place: Place, readers: Readers, rejected: Container[tuple[Place, Kind]]) -> Found | None:
        """The fold at a node whose result is read, of a kind that is not rejected there; None when it stays."""
        ways = (found for found in self._ways(place, readers) if (place, found.kind) not in rejected)
        return next((found for found in ways if self._sayable(found) and self._takes(found, readers)), None)

    def _sayable(self, found: Found) -> bool:
        """A result of a graph that is another value needs an Identity, which there must be, and which must not be what was folded.

        What the fold reads must mean the same wherever it is read.
        """
        node = self._given.view.node(found.place)
        if any(isinstance(part, Stored | Runtime) and part.name in self._given.shadowed for part in found.parts):
            return False
        if not isinstance(found.by, Stored | Runtime) or not self._given.is_result(Key(found.place.scope, node.output[0])):
            return True
        return node.op_type != "Identity" and found.by.dtype is not None and not found.by.dtype.packed

    def _ways(self, place: Place, readers: Readers) -> Iterator[Found]:
        lifted, made = self._given.lifted.get(place), self._given.made.get(place)
        if lifted is not None and lifted.step.meaning.kind == "quantize":
            if self._asked("pairs"):
                yield from paired(self._given, place, lifted, self._coarse, approximate=self._wishes.approximate)
            if made is not None and self._asked("quantize"):
                yield self._constant(place, "quantize", str(lifted.step.meaning), made)
        elif lifted is not None and made is not None:
            bias = lifted.storage is dtypes.INT32
            if self._asked("weights") or (bias and self._asked("bias")):
                yield self._constant(place, "bias" if bias else "weights", str(lifted.step.meaning), made)
        elif made is not None:
            yield from self._moved(place, made, readers)
            yield from self._arithmetic(place, made, readers)
        if lifted is not None and self._asked("collapse"):
            yield from self._collapsed(place, lifted)

    def _asked(self, kind: Kind) -> bool:
        return kind in self._wishes.kinds

    def _constant(self, place: Place, kind: Kind, what: str, made: Made) -> Found:
        return Found(place, kind, what, made.const, None, stored(made.const), made.nodes)

    def _moved(self, place: Place, made: Made, readers: Readers) -> Iterator[Found]:
        """A mover: of a dequantized constant, or of codes that a step reads."""
        node = self._given.view.node(place)
        if not self._asked("move"):
            return
        if made.step is not None:
            what = f"{node.op_type} of {made.step.meaning}"
            if self._asked("weights"):
                yield self._constant(place, "weights", what, made)
            step = self._coarse(made.step)
            if node.op_type != "Cast" and self.native(place, step) is not None:
                yield Found(place, "move", what, None, step, stored(made.const), made.nodes)
        elif "x" in readers.roles and "other" not in readers.roles and node.op_type in (*MOVERS, "Identity"):
            yield self._constant(place, "move", f"{node.op_type} of {made.const.dtype} codes", made)

    def _arithmetic(self, place: Place, made: Made, readers: Readers) -> Iterator[Found]:
        """What ends as a scale or zero point."""
        if self._asked("scales") and "parameter" in readers.roles:
            yield self._constant(place, "scales", f"{self._given.view.node(place).op_type} in front of a scale", made)

    def _collapsed(self, place: Place, lifted: Lifted) -> Iterator[Found]:
        step = self._coarse(lifted.step)
        if step != lifted.step and self.native(place, step) is not None:
            name = self._given.view.node(place).input[lifted.source.order[0]]
            step = replace(step, x=Runtime(name, step.x.dtype, step.x.shape)) if isinstance(step.x, Computed) else step
            what = f"{lifted.step.meaning}, now {step.meaning.granularity}"
            yield Found(place, "collapse", what, None, step, behind(lifted.step), (place,))

    def native(self, place: Place, step: Step) -> Op | None:
        """The step as one node of its own dialect, at the model's own opset; None when there is none."""
        found = self._given.chooser(place, self._dialect(place)).choose(step)
        return found.expr if isinstance(found, Choice) and not found.names and isinstance(found.expr, Op) else None

    def _dialect(self, place: Place) -> str:
        """The dialect of the steps behind a node."""
        made = self._given.made.get(place)
        steps = [self._given.lifted[p] for p in (*(made.nodes if made else ()), place) if p in self._given.lifted]
        return steps[-1].source.dialect if steps else "ai.onnx"

    def _takes(self, found: Found, readers: Readers) -> bool:
        """The patterns of the selection let it through."""
        chosen = self._wishes.selection
        if chosen.everything:
            return True
        traits = _traits(self._given, found, readers)
        self.fitted |= chosen.fitting(traits)
        return chosen.takes(traits)


def _traits(given: Given, found: Found, readers: Readers) -> Traits:
    """Names of its nodes, their results and the largest constant; the storage type of the last step."""
    nodes = [given.view.node(p) for p in dict.fromkeys((*found.nodes, found.place))]
    names = [name for node in nodes for name in (label(node), *node.output)]
    storages = [given.lifted[p].storage for p in (found.place, *reversed(found.nodes)) if p in given.lifted]
    read = max(found.reads, key=nbytes, default=None)
    dtype = next((s for s in storages if s is not None), "" if read is None else read.dtype)
    names += [] if read is None else [read.name]
    return Traits(tuple(names), readers.operators, str(dtype), 0 if read is None else nbytes(read))
