"""A node that does not mean the same at another opset, said otherwise there: by an adapter of its family or by its function body.

What an adapter writes is moved in turn, each node from the opset it was written for, until all of it is legal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from onnx import GraphProto, NodeProto

from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.opsets import adapters, bodies, schemas, wider
from qdqtool.opsets.draft import Draft, Flight, epsilon
from qdqtool.opsets.edits import AttributeEdit, carry_out
from qdqtool.opsets.forms import of_node
from qdqtool.opsets.legality import problems
from qdqtool.opsets.moves import Verdict, judge
from qdqtool.opsets.reading import alive, all_names, graphs, reads
from qdqtool.opsets.situation import Array, Situation, Surroundings

MOST = 4000
"""Nodes that one node may become, at most."""
BODY = "function_body"
WIDER = "wider_type"


@dataclass(frozen=True, slots=True)
class Adapted:
    """What a node becomes: nodes in order, legal at the target, and the new constants they read.

    The results of the original keep their names; all other names are new, and unique only among these nodes.
    """

    nodes: tuple[NodeProto, ...]
    constants: Mapping[str, Array]
    exactness: Exactness
    bound: Bound
    how: tuple[str, ...]


def adapt(node: NodeProto, source: int, target: int, situation: Situation) -> Adapted | list[str]:
    """Say a node of the main domain at another opset.

    Parameters
    ----------
    node : NodeProto
        Without references to a function's attributes.
    source, target : int
        Opsets of the main domain.
    situation : Situation
        Types, shapes and small constants around the node.

    Returns
    -------
    Adapted or list of str
        The reasons when it cannot be said.
    """
    return _Adaption(node, target, Surroundings(situation, all_names(node))).run(source)


@dataclass(slots=True)
class _Adaption:
    original: NodeProto
    target: int
    around: Surroundings
    out: list[NodeProto] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    how: dict[str, None] = field(default_factory=dict)
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND
    written: int = 0

    def run(self, source: int) -> Adapted | list[str]:
        reasons = self._all([Flight(self.original, source, own=False, ours=False)], {o for o in self.original.output if o})
        if reasons:
            return reasons
        read = {name for node in self.out for name in reads(node)}
        constants = {name: array for name, array in self.around.constants.items() if name in read}
        return Adapted(tuple(self.out), constants, self.exactness, self.bound, tuple(self.how))

    def _all(self, flights: Iterable[Flight], wanted: set[str]) -> list[str]:
        """Move nodes until all are legal; `wanted` are the results to keep."""
        waiting, start = deque(flights), len(self.out)
        while waiting:
            flight = waiting.popleft()
            self.written += 1
            if self.written > MOST:
                return [f"{self.original.op_type} would become more than {MOST} nodes"]
            more = self._move(flight, wanted)
            if isinstance(more, list) and more and isinstance(more[0], str):
                return [str(m) for m in more]
            waiting.extendleft(reversed([f for f in more if isinstance(f, Flight)]))
        self.out[start:] = alive(self.out[start:], wanted)
        return []

    def _move(self, flight: Flight, wanted: set[str]) -> list[Flight] | list[str]:
        flight = replace(flight, node=self._followed(flight.node)) if flight.own else flight
        node, inner = flight.node, flight.own and not wanted & set(flight.node.output)
        if inner and (self.around.folds(node) or self._passes(node)):
            return []
        if flight.own:
            self.around.learn(node, flight.opset)
            if (chosen := self._chosen(flight)) is not None:
                return chosen
        verdict = self._judge(node, flight.opset, self.target)
        if verdict.reasons:
            return self._step(flight, verdict)
        self._round(verdict)
        node = _edited(node, verdict)
        if flight.own and (other := self._mistyped(flight, node)):
            return other
        if flight.ours and (reasons := self._inside(node, flight.opset)):
            return reasons
        self.out.append(node)
        return []

    def _passes(self, node: NodeProto) -> bool:
        """Whether a node gives its operand as it is; those that read it will read the operand."""
        same = node.op_type == "Identity"
        if node.op_type == "Cast":
            known = self.around.type(node.input[0])
            same = known is not None and known.code == next(a.i for a in node.attribute if a.name == "to")
        if same:
            self.aliases[node.output[0]] = node.input[0]
        return same

    def _followed(self, node: NodeProto) -> NodeProto:
        return bodies.renamed(node, self.aliases) if any(name in self.aliases for name in reads(node)) else node

    def _chosen(self, flight: Flight) -> list[Flight] | None:
        """The branch of an If whose condition is a constant, in the place of the If."""
        node = flight.node
        condition = self.around.value(node.input[0]) if node.op_type == "If" else None
        if condition is None:
            return None
        branch = next(a.g for a in node.attribute if a.name == ("then_branch" if condition.item() else "else_branch"))
        results = [v.name for v in branch.output]
        made = {o for n in branch.node for o in n.output}
        names = {inner: outer for inner, outer in zip(results, node.output, strict=True) if inner in made}
        flights = [Flight(bodies.renamed(n, names), flight.opset) for n in branch.node]
        passed = [(i, o) for i, o in zip(results, node.output, strict=True) if i not in made]
        return flights + [Flight(NodeProto(op_type="Identity", input=[i], output=[o]), flight.opset) for i, o in passed]

    def _judge(self, node: NodeProto, here: int, there: int) -> Verdict:
        return judge(node, here, there, self.around.type, shape_of=self.around.shape, value_of=self.around.integers)

    def _step(self, flight: Flight, direct: Verdict) -> list[Flight] | list[str]:
        """Go along the operator's versions up to the one that needs an adapter."""
        node, here = flight.node, flight.opset
        for since, there in _boundaries(node.op_type, here, self.target):
            verdict = self._judge(node, here, there)
            self._round(verdict)
            if verdict.reasons:
                moved = Flight(node, here, flight.own, flight.ours)
                gone = schemas.schema(node.op_type, "", self.target) is None and schemas.schema(node.op_type, "", there) is not None
                return self._rewritten(moved, since, there, verdict.reasons if flight.own or gone else direct.reasons)
            node, here = _edited(node, verdict), there
        self.out.append(node)
        return []

    def _round(self, verdict: Verdict) -> None:
        """ONNX Runtime adds up in another order at the other opset."""
        if verdict.rounded and self.exactness < Exactness.ROUNDING:
            result = next((o for o in self.original.output if o), "")
            self.exactness, self.bound = Exactness.ROUNDING, self.bound + Bound(of_maximum=4 * epsilon(self.around.type(result)))

    def _rewritten(self, flight: Flight, since: int, there: int, reasons: tuple[str, ...]) -> list[Flight] | list[str]:
        node = flight.node
        row = adapters.table(there >= since).get((node.op_type, since))
        ways = [row] if row else []
        for name, way in (*ways, (WIDER, wider.widen), (BODY, bodies.expand)):
            draft = Draft(node, flight.opset, there, self.target, self.around, flight.ours)
            reason = way(draft)
            if reason is None:
                return self._accepted(name, draft)
            if reason:
                return [reason] if row else [*reasons, reason]
        return list(reasons)

    def _accepted(self, name: str, draft: Draft) -> list[Flight]:
        self.how[name] = None
        self.exactness, self.bound = max(self.exactness, draft.exactness), self.bound + draft.bound
        return draft.flights

    def _mistyped(self, flight: Flight, node: NodeProto) -> list[Flight] | list[str]:
        """What an adapter wrote may have a type the operator never took."""
        wrong = [p.text for p in problems(of_node(node, self.around.type), self.target)]
        draft = Draft(node, self.target, self.target, self.target, self.around, flight.ours)
        return self._accepted(WIDER, draft) if wrong and wider.widen(draft) is None else wrong

    def _inside(self, node: NodeProto, opset: int) -> list[str]:
        """Move the nodes of the graphs that a node from a body holds."""
        for graph in graphs(node):
            if reasons := self._graph(node, graph, opset):
                return reasons
        return []

    def _graph(self, node: NodeProto, graph: GraphProto, opset: int) -> list[str]:
        for index, value in enumerate(graph.input):
            if value.type.WhichOneof("value") is None and (known := _entering(node, index)):
                value.type.CopyFrom(self.around.proto(known))
                value.type.tensor_type.ClearField("shape")
            self.around.declare(value.name, value.type)
        inner = _Adaption(self.original, self.target, self.around, aliases=self.aliases, how=self.how)
        reasons = inner._all([Flight(n, opset) for n in graph.node], {v.name for v in graph.output})
        self.exactness, self.bound = max(self.exactness, inner.exactness), self.bound + inner.bound
        del graph.node[:]
        graph.node.extend(inner.out)
        return reasons


def _entering(node: NodeProto, index: int) -> str:
    """The operand whose type an input of a body has."""
    if node.op_type == "Scan":
        return str(node.input[index])
    return str(node.input[index]) if node.op_type == "Loop" and index > 1 and index < len(node.input) else ""


def _boundaries(op: str, here: int, target: int) -> Iterator[tuple[int, int]]:
    """The versions on the way, each with the opset on its other side."""
    versions = schemas.versions(op)
    if target > here:
        yield from ((v, v) for v in versions if here < v <= target)
    else:
        yield from ((v, v - 1) for v in reversed(versions) if target < v <= here)


def _edited(node: NodeProto, verdict: Verdict) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    edits: tuple[AttributeEdit, ...] = verdict.edits
    carry_out(copy, edits)
    return copy
