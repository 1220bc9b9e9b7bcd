"""What a target's runtime demands of the steps that are written for it: which lowerings may be used, and what it has against a form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from qdqtool import dtypes
from qdqtool.expressions import Expr, Literal, Step, is_const, known, literal, reshape
from qdqtool.lowerings import Lowering
from qdqtool.targets.cautions import Caution
from qdqtool.targets.demands import Ask, Part, Written, objections
from qdqtool.targets.profile import Profile


@dataclass(frozen=True, slots=True)
class Demanding:
    """A runtime, if one is aimed at, and what the step is for."""

    profile: Profile | None
    part: Part

    @property
    def bound(self) -> bool:
        """The runtime has its say about single steps."""
        return bool(self._demands)

    @property
    def _demands(self) -> tuple[Caution, ...]:
        return self.profile.demands if self.profile is not None else ()

    def allowed(self, lowerings: Iterable[Lowering], step: Step) -> Iterator[Lowering]:
        """Those that may be used on a step."""
        profile = self.profile
        unsaid = frozenset[str]() if profile is None else profile.unsaid
        unsaid |= profile.unsaid_at_run_time if profile is not None and not is_const(step.x) else frozenset[str]()
        return (lowering for lowering in lowerings if lowering.NAME not in unsaid)

    def objections(self, step: Step, attributes: Mapping[str, int], zero: Expr | None, ask: Ask) -> list[Caution]:
        """What the runtime has against a node with these attributes and this zero point."""
        if not self.bound:
            return []
        return objections(self._demands, Written(step.meaning, attributes, step.x, step.scale, zero, self._part(step)), ask)

    def _part(self, step: Step) -> Part:
        """Of steps that fused operators are split into nobody says what they are for."""
        return self.part if self.part.role else Part("weight" if is_const(step.x) else "activation")

    def zero_points(self, step: Step) -> Iterator[Expr | None]:
        """The zero points to try: as it is, then written, or shaped like the scale."""
        zero, shape = step.zero_point, step.scale.shape
        yield zero
        if zero is None and (written := _written(step, demanding=self.bound)) is not None:
            yield written
        if self.bound and zero is not None and zero.shape != shape and {zero.shape, shape} == {(), (1,)}:
            yield reshape(zero, known(shape) or ())


def _written(step: Step, *, demanding: bool) -> Literal | None:
    """A zero point of zeros, which tells the type where no attribute can.

    None for float4 and float6, where adding +0 would turn -0 into +0; where nobody is `demanding` also for uint8, which is every
    runtime's default, and for a dequantize.
    """
    storage, shape = step.meaning.storage, step.scale.shape
    if storage is None or shape is None or None in shape:
        return None
    if not demanding and (step.meaning.kind == "dequantize" or storage is dtypes.UINT8):
        return None
    if storage.kind == "float" and storage not in dtypes.FLOAT8:
        return None
    return literal(0, storage, tuple(d for d in shape if d is not None))
