"""What one version of a runtime can load and run: limits, rows like those of ``capabilities``, and kernels that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from qdqtool.capabilities import Row
from qdqtool.dtypes import ElementType
from qdqtool.errors import Usage
from qdqtool.quantization import Blocked, Meaning, PerAxis
from qdqtool.targets.cautions import Caution, Cautions

EVERY = "*"
"""In place of types: no kernel for any of them."""

Gaps = Mapping[str, Mapping[int, frozenset[str]]]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """One version of a runtime.

    `opsets` and `ir`: the lowest and highest it loads; `ir` is None where nothing is asked. `rows`: the forms of Q and DQ it
    runs; None means all of the opset. `avoided`: storage types that it runs but that are not written anew. `lacking`: by
    operator and the opset that brought its version, the types (or pairs ``first:second``) without kernel. `imports`: the
    highest version of other domains. `contrib`: by domain, the operators with their most inputs. `choices`: the values of an
    attribute that an operator takes, by (domain, operator, attribute). `types`: those of tensors; None means all.
    `dialects`: spellings at hand beside those that a model imports. `source`: what was measured, for notes. `cautions`: what
    lint rules look for. `converts`: ``convert --for`` knows how to make models for it; else only ``validate --for`` does.
    `binding`: a conversion writes no step that a caution speaks against, and refuses what else they call an error. `unsaid`:
    lowerings that are not used, since the runtime would compute in floats what shall be codes; `unsaid_at_run_time`: those not used
    on codes that are no constants.

    The faults keep sound models from loading with default options. `doubled`: from this opset on, ``output_dtype`` beside a
    zero point does. `behind`: by storage type, the opset from which on these operators do behind a DequantizeLinear.
    """

    name: str
    version: str
    opsets: tuple[int, int]
    ir: tuple[int, int] | None = None
    rows: tuple[Row, ...] | None = None
    avoided: frozenset[ElementType] = frozenset()
    lacking: Gaps = field(default_factory=dict)
    imports: Mapping[str, int] = field(default_factory=dict)
    contrib: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    choices: Mapping[tuple[str, str, str], frozenset[int]] = field(default_factory=dict)
    types: frozenset[ElementType] | None = None
    dialects: tuple[str, ...] = ()
    doubled: int | None = None
    behind: Mapping[ElementType, tuple[int, frozenset[str]]] = field(default_factory=dict)
    source: str = ""
    cautions: Cautions = field(default_factory=Cautions)
    converts: bool = True
    binding: bool = False
    unsaid: frozenset[str] = frozenset()
    unsaid_at_run_time: frozenset[str] = frozenset()

    @property
    def demands(self) -> tuple[Caution, ...]:
        """The cautions that a conversion judges each step by."""
        return self.cautions.binding if self.binding else ()

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name


def require_opset(profile: Profile, opset: int) -> None:
    """Usage when the runtime does not load an opset that was asked for."""
    low, high = profile.opsets
    if not low <= opset <= high:
        hint = f"--opset {min(max(opset, low), high)}, or leave it out"
        raise Usage("opset-out-of-reach", f"{profile} does not load opset {opset}", why=f"it loads opsets {low} to {high}", hint=hint)


def require_converts(profile: Profile) -> None:
    """Usage for a runtime that `validate` knows and `convert` does not yet."""
    if not profile.converts:
        why = "what it lacks is known, how to write it otherwise is not"
        hint = f"validate --for {profile} says what stands in the way; qdqtool targets lists those that convert takes"
        raise Usage("target-for-validate-only", f"convert does not make models for {profile}", why=why, hint=hint)


def narrowed(profile: Profile, row: Row) -> list[Row]:
    """What may be written anew of a row: nothing, or several rows of the same operator version."""
    return [replace(r, storage=r.storage - profile.avoided) for r in _measured(profile, row)]


def _measured(profile: Profile, row: Row) -> list[Row]:
    if profile.rows is None:
        return [row]
    return [r for r in profile.rows if (r.dialect, r.kind, r.version) == (row.dialect, row.kind, row.version)]


def takes(profile: Profile, row: Row, meaning: Meaning, attributes: Iterable[str], *, zero_point: bool, opset: int) -> bool:
    """Whether the runtime runs a node of `row` as it is written; what the graph does not tell counts in its favour."""
    named = set(attributes)
    if profile.doubled is not None and opset >= profile.doubled and zero_point and "output_dtype" in named and row.kind == "quantize":
        return False
    return any(_takes(r, meaning) and named <= r.attributes for r in _measured(profile, row))


def _takes(row: Row, meaning: Meaning) -> bool:
    columns = ((meaning.storage, row.storage), (meaning.expressed, row.expressed), (meaning.scale_type, row.scale))
    if any(dtype is not None and dtype not in types for dtype, types in columns):
        return False
    known = meaning.expressed is not None and meaning.scale_type is not None
    if row.linked and known and meaning.expressed is not meaning.scale_type:
        return False
    divided = meaning.compute is None or row.divides is None or meaning.compute in row.divides
    spread = (row.blocks or not isinstance(meaning.granularity, Blocked)) and (row.vector or not isinstance(meaning.granularity, PerAxis))
    return divided and spread


def gap(profile: Profile, op: str, since: int, types: Iterable[ElementType | str | None] = ()) -> str:
    """Why the runtime cannot run a main-domain operator of the version that opset `since` brought; empty when it can.

    Without `types`, only versions that have no kernel at all count. A pair of types is written ``first:second``.
    """
    missing = profile.lacking.get(op, {}).get(since, frozenset())
    if EVERY in missing:
        return f"{profile} has no kernel of {op}-{since}"
    lost = [str(t) for t in types if t is not None and str(t) in missing]
    return f"{profile} has no kernel of {op}-{since} for {lost[0]}" if lost else ""


def foreign_gap(profile: Profile, domain: str, op: str, inputs: int, attributes: Mapping[str, int]) -> str:
    """As `gap`, for an operator of another domain with so many inputs and these integer attributes.

    What was not listed is taken to be there.
    """
    known = profile.contrib.get(domain)
    if known is not None and op not in known:
        return f"{profile} has no {domain} {op}"
    if known is not None and inputs > known[op]:
        return f"{profile} has no {domain} {op} with {inputs} inputs"
    for name, value in attributes.items():
        allowed = profile.choices.get((domain, op, name))
        if allowed is not None and value not in allowed:
            return f"{profile} has no {domain} {op} with {name} {value}"
    return ""
