"""Faults that a runtime is known for, by node: what the lint rules find that read the cautions of its profile."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from qdqtool.comparing.sides import Side
from qdqtool.linting.run import Settings, lint
from qdqtool.linting.selection import Selection
from qdqtool.model.load import load
from qdqtool.targets import all_targets

EXACT = ("tie-rounded-otherwise", "attribute-ignored", "computed-otherwise", "packed-form-not-supported", "operands-not-supported")
"""Rules for what a runtime computes otherwise, however it is configured."""

OPTIMIZED = (*EXACT, "activations-quantized-anew", "double-qdq-merged", "float-bias-quantized")
"""The same with its default options."""


_GROUPED = r", one of \d+( operators)?"


def known_faults(side: Side, runtime: str, rules: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """What is known of each node in a runtime, by its place in words."""
    found: dict[str, list[str]] = defaultdict(list)
    if runtime in all_targets():
        folder = side.subject.folders[0]
        result = lint(load(side.subject.path, folder, trusting=True), Settings(folder, runtime, Selection(tuple(rules))))
        for finding in result.findings:
            message = re.sub(_GROUPED, "", finding.message)
            for at in {finding.at} if message == finding.message else _alike(side, finding.at):
                found[at].append(message)
    return found


def _alike(side: Side, at: str) -> set[str]:
    """Where one finding stands for many: all nodes of its operator."""
    operators = {node.op_type for node in side.nodes if side.title(node) == at}
    return {side.title(node) for node in side.nodes if node.op_type in operators}
