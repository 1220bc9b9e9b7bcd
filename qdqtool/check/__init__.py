"""The closing check: original against rewritten, step by step and as a whole, in ONNX Runtime or, where it cannot, in our evaluator.

Both are imported only when a check runs: that takes longer than rewriting most models.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qdqtool.check.options import CheckOptions
from qdqtool.check.probe import Fragment, Port, Probe, Rounded
from qdqtool.check.report import Report

__all__ = ["CheckOptions", "Fragment", "Port", "Probe", "Report", "Rounded", "check"]

_DEFAULT = CheckOptions()


def check(original: Path, rewritten: Path, probes: Sequence[Probe], *, options: CheckOptions = _DEFAULT) -> Report:
    """Judge a rewritten model against its original.

    Parameters
    ----------
    original, rewritten : Path
        Two model files; never open at the same time.
    probes : sequence of Probe
        The rewritten steps.
    options : CheckOptions

    Returns
    -------
    Report
        Its verdict is "different" if any step or output differs by more than the class of the rewrite allows.

    Raises
    ------
    Usage
        The given inputs do not fit the model.
    """
    from qdqtool.check.constants import changed_constants
    from qdqtool.check.info import default_load
    from qdqtool.check.model import check_model
    from qdqtool.check.steps import check_steps
    from qdqtool.check.subject import Subject

    original, rewritten = original.absolute(), rewritten.absolute()
    home = (options.base_dir or original.parent).absolute()
    old, new = Subject(original, (home,)), Subject(rewritten, (rewritten.parent, home))
    steps = check_steps(probes, options.setting, options.seed)
    whole = check_model(old, new, probes, options)
    partial = [f"{probe.place}: {probe.coverage}" for probe in probes if probe.coverage]
    notes = (*partial, *whole.notes, *(default_load(new, options.setting) if options.info else ()))
    return Report(tuple(steps), whole.comparisons + changed_constants(old, new), whole.replayed, notes, whole.reason)
