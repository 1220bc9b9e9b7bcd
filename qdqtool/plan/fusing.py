"""Fusing: steps around a plain operator become one operator of a dialect that was asked for.

A pattern is read backwards from its last node. Dequantize nodes that others read too are copied into it, their constants are not: where
weights would have to stay in the model beside their new form, the pattern stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qdqtool.dialects import Fused, Impossible, Saying, fused_dialects
from qdqtool.expressions import Const, Expr, Op, Step, constants_of, nbytes
from qdqtool.model.graph import Place, Scope, domain
from qdqtool.plan import remains
from qdqtool.plan.entries import Replace
from qdqtool.plan.fused import Asked
from qdqtool.plan.patterns import Reader
from qdqtool.plan.search import Tree, below, with_kept
from qdqtool.plan.splitting import entry_of
from qdqtool.targets.profile import foreign_gap

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

DEPTH = 6
"""Operators one after the other in a pattern."""

Stays = Counter[tuple[str, str]]
"""How often patterns stay, by dialect and reason."""

APART = "its weights have other readers too, and would be stored twice"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pattern that can be fused: what may go with it, and what it said."""

    place: Place
    dialect: Fused
    saying: Saying
    before: Expr
    claimed: frozenset[Place]


def fuse_all(builder: Builder) -> None:
    """Plan every pattern of the dialects asked for, and note why others stay."""
    stays: Stays = Counter()
    found: dict[Place, Candidate] = {}
    for name in builder.target.fuse:
        for candidate in _candidates(builder, fused_dialects()[name], found, stays):
            found[candidate.place] = candidate
    entries = _entries(builder, list(found.values()), stays)
    claimed = {place: found[place].claimed for place in entries}
    while torn := remains.torn(builder.view, entries, claimed):
        for place in torn:
            stays[found[place].dialect.NAME, APART] += 1
            del entries[place]
    _commit(builder, entries, claimed)
    builder.plan.notes += [
        f"{count} pattern{'s stay' if count > 1 else ' stays'}, not fused as {name}: {why}" for (name, why), count in stays.items()
    ]
    told = {name for name, _ in stays} | {found[place].dialect.NAME for place in entries}
    builder.plan.notes += _without_pattern(builder, told)


def _without_pattern(builder: Builder, told: Collection[str]) -> Iterator[str]:
    """Dialects of which the model holds neither a pattern nor an operator, unless single steps were asked for beside."""
    operators = {(domain(node.domain), node.op_type) for _, _, node in builder.view.places()}
    for name in () if builder.target.dialect is not None else builder.target.fuse:
        dialect = fused_dialects()[name]
        if name not in told and not operators & set(dialect.OPERATORS):
            yield f"nothing is fused as {name}: no quantized pattern for it ends in {' or '.join(dialect.LAST)}"


def _candidates(builder: Builder, dialect: Fused, taken: dict[Place, Candidate], stays: Stays) -> Iterator[Candidate]:
    reader = Reader(builder, dialect.INNER, sharing=True)
    reader.claimed |= {*builder.plan.replaces, *builder.plan.dead, *taken}
    reader.claimed |= {p for candidate in taken.values() for p in candidate.claimed if not reader.cheap(p)}
    for place, scope, node in reversed(list(builder.view.places())):
        if place in reader.claimed or node.op_type not in dialect.LAST or domain(node.domain) not in ("", dialect.DOMAIN):
            continue
        found = _read(builder, dialect, reader, scope, place)
        if isinstance(found, Candidate):
            reader.claimed |= {place, *(p for p in found.claimed if not reader.cheap(p))}
            yield found
        elif found:
            stays[dialect.NAME, found[0]] += 1


def _read(builder: Builder, dialect: Fused, reader: Reader, scope: Scope, place: Place) -> Candidate | tuple[str, ...]:
    tree = reader.tree(scope, place, DEPTH)
    saying = None if tree is None else dialect.fuse(tree.expr, Asked(builder, place))
    if tree is None or saying is None:
        return ()
    if isinstance(saying, Impossible):
        return saying.reasons
    kept: set[Place] = set()
    ways = tuple(replace(way, expr=_with_kept(way.expr, tree, kept)) for way in saying.ways)
    claimed = {p for p, _ in tree.origins.values()} - below(tree, kept) - {place}
    values = {expr: value for expr, (p, value) in tree.origins.items() if p in kept}
    return Candidate(place, dialect, replace(saying, ways=ways), _before(tree.expr, values), frozenset(claimed))


def _with_kept(expr: Expr, tree: Tree, kept: set[Place]) -> Expr:
    """What is fused, reading from the model what stands there; the new operator itself stands nowhere."""
    assert isinstance(expr, Op)
    return replace(expr, inputs=tuple(None if i is None else with_kept(i, tree, kept) for i in expr.inputs))


def _before(expr: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """The pattern, reading what is kept from the model."""
    if expr in values:
        return values[expr]
    match expr:
        case Step():
            zero = None if expr.zero_point is None else _before(expr.zero_point, values)
            return replace(expr, x=_before(expr.x, values), scale=_before(expr.scale, values), zero_point=zero)
        case Op():
            return replace(expr, inputs=tuple(None if i is None else _before(i, values) for i in expr.inputs))
    return expr


def _entries(builder: Builder, candidates: Sequence[Candidate], stays: Stays) -> dict[Place, Replace]:
    """An entry for each pattern; of several ways the one that needs the least beside the constants of the others."""
    entries: dict[Place, Replace] = {}
    held: set[Const] = set()
    for each in sorted(candidates, key=lambda c: len(c.saying.ways)):
        least = min(each.saying.ways, key=lambda way: sum(nbytes(c) for c in constants_of(way.expr) - held))
        entry = entry_of(builder, each.place, each.dialect, each.before, replace(each.saying, ways=(least,)))
        reasons = _lacking(builder, entry.outputs[0][1]) if isinstance(entry, Replace) else entry
        if reasons:
            stays[each.dialect.NAME, reasons[0]] += 1
        elif isinstance(entry, Replace):
            entries[each.place] = entry
            held |= constants_of(entry.outputs[0][1])
    return entries


def _lacking(builder: Builder, op: Expr) -> tuple[str, ...]:
    """Why the target's runtime has no kernel of what was made."""
    assert isinstance(op, Op)
    numbers = {name: value for name, value in op.attributes if isinstance(value, int)}
    profile = builder.target.profile
    reason = "" if profile is None else foreign_gap(profile, op.domain, op.op, len(op.inputs), numbers)
    return (reason,) if reason else ()


def _commit(builder: Builder, entries: Mapping[Place, Replace], claimed: remains.Claims) -> None:
    gone = remains.gone(builder.view, entries, claimed)
    for place, entry in sorted(entries.items(), key=lambda item: (item[0].scope, item[0].index)):
        own = tuple(sorted(claimed[place] & gone, key=lambda p: p.index))
        builder.plan.replaces[place] = replace(entry, claimed=own)
    builder.plan.dead |= gone
    for place in (*gone, *entries):
        builder.lifted.pop(place, None)
