"""The runtime has no such operator, or none for these types.

**Why it matters**: the model does not load, or parts of it fall back to another device. Runtimes drop kernels too: a model-wide opset
upgrade for one quantized type can make another operator unrunnable.

**Bad**: ``Reshape`` of an int4 tensor in ONNX Runtime, which has Q, DQ, Cast and Transpose for it; ``RoiAlign`` at opset 22

**Good**: dequantize first; ``RoiAlign`` at opset 21

**Fix**: ``qdqtool convert --for RUNTIME`` takes an opset and a form that run, or says that none does. An operator of a domain of its own
needs the library of custom operators that has it.

**Runtimes**: ONNX Runtime as measured; TensorRT and OpenVINO where their sources name the operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from onnx import AttributeProto

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place, domain
from qdqtool.opsets import schemas
from qdqtool.plan.lift import is_step
from qdqtool.running import PAIRED
from qdqtool.targets.profile import Profile, foreign_gap, gap

CODE = "QDQ403"
SEVERITY = "error"
STAGE = "graph"

DATA = {"Where": 1}
"""Which operand has the type that kernels are listed for, where it is not the first."""


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place in subject.nodes(*sorted(caution.ops), domain=caution.domain):
            yield said(subject, caution, place, _called(subject, place), about=subject.node(place).op_type)
    profile = subject.profile
    if profile is None:
        return
    for place in subject.nodes(*sorted(profile.lacking)):
        if reason := _missing(subject, profile, place):
            yield from _told(subject, profile, place, "", reason)
    for place, _, node in subject.view.places():
        own = domain(node.domain) if node.domain else ""
        if own and not is_step(node):
            yield from _told(subject, profile, place, own, _foreign(subject, profile, place, own))


def _told(subject: Subject, profile: Profile, place: Place, own: str, reason: str) -> Iterator[Problem]:
    node = subject.node(place)
    if reason and subject.view.function_of(node) is None:
        yield subject.problem(place, _worded(profile, reason), _way_out(profile, own), about=node.op_type)


def _called(subject: Subject, place: Place) -> str:
    node = subject.node(place)
    return f"{domain(node.domain)} {node.op_type}".strip()


def _worded(profile: Profile, reason: str) -> str:
    """``ort@1.32: no kernel of ...`` of ``ort@1.32 has no kernel of ...``."""
    return f"{profile}: {reason.removeprefix(f'{profile} has ')}"


def _way_out(profile: Profile, own: str) -> str:
    if own and own not in profile.contrib:
        return "load a library that has it, or replace the operator"
    return f"qdqtool convert --for {profile}" if profile.converts else "replace the operator"


def _foreign(subject: Subject, profile: Profile, place: Place, own: str) -> str:
    node = subject.node(place)
    numbers = {a.name: a.i for a in node.attribute if a.type == AttributeProto.INT}
    if profile.contrib and own not in profile.contrib and own not in profile.imports:
        return f"{profile} has no operator {node.op_type} of {own}"
    return foreign_gap(profile, own, node.op_type, len(node.input), numbers)


def _missing(subject: Subject, profile: Profile, place: Place) -> str:
    node, scope, types = subject.node(place), subject.scope(place), subject.types
    op = node.op_type
    since = _since(op, scope.imports.get("", 1))
    if since not in profile.lacking[op]:
        return ""
    kinds = [types.at(scope, name).dtype if name else None for name in node.input[:]]
    pair = [str(kinds[i]) for i in PAIRED.get(op, ()) if i < len(kinds)]
    return gap(profile, op, since, [":".join(pair), *_data(subject, place, kinds)])


@cache
def _since(op: str, opset: int) -> int:
    """The opset that brought the version of an operator in force."""
    return max((v for v in schemas.versions(op) if v <= opset), default=0)


def _data(subject: Subject, place: Place, kinds: list[ElementType | None]) -> list[ElementType | None]:
    op = subject.node(place).op_type
    at = DATA.get(op, 0)
    found = kinds[at : at + 1]
    to = subject.attribute(place, "to") if op == "Cast" else None
    return [*found, dtypes.of_code(to.i)] if to is not None else found
