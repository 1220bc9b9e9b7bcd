"""``qdqtool validate``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from qdqtool.cli import findings
from qdqtool.cli.output import Output, quiet_options
from qdqtool.cli.parameters import Format, Target, Words, exclusive
from qdqtool.cli.rules import named
from qdqtool.cli.sections import Sectioned

FILE = click.Path(path_type=Path, dir_okay=False, readable=False)
SEVERITY = click.Choice(["error", "warning", "info"])
SECTIONS = {
    "Rules": ("target", "select", "ignore", "fail_on", "baseline", "write_baseline", "config", "explain"),
    "Fixes": ("fix", "unsafe", "diff", "fixed"),
}


@click.command("validate", cls=Sectioned, sections=SECTIONS)
@click.argument("models", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option(
    "--for", "target", metavar="NAME[@VERSION]", type=Target(), help="What the models shall run in.  [default: the newest ONNX Runtime]"
)
@click.option("--select", metavar="RULES", type=Words(), multiple=True, help="Run these rules only: QDQ203, QDQ2, scale-not-finite.")
@click.option("--ignore", metavar="RULES", type=Words(), multiple=True, help="Leave these rules out; the longer word wins.")
@click.option("--fail-on", type=SEVERITY, help="Which findings, or worse ones, make the exit status 1.  [default: error]")
@click.option("--baseline", metavar="FILE", type=FILE, help="Known findings, which are not reported.")
@click.option("--write-baseline", metavar="FILE", type=FILE, help="Write all findings to FILE as known.")
@click.option("--config", metavar="FILE", type=FILE, help="Settings.  [default: the nearest qdqtool.toml or pyproject.toml]")
@click.option("--explain", metavar="CODE", help="Show the page of a rule, and do nothing else.")
@click.option("--fix", is_flag=True, help="Mend what can be mended without changing a result; checked.")
@click.option("--unsafe", is_flag=True, help="With --fix or --diff: also what may change results.")
@click.option("--diff", is_flag=True, help="Only show what --fix would change.")
@click.option("--fixed", metavar="OUT", type=FILE, help="Where the mended model goes.  [default: in its place]")
@click.option("--format", "formats", metavar="NAME[=FILE]", type=Format(), multiple=True, help="text, json, sarif ...; may be given again.")
@click.option(
    "--json", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), help="Short for --format json=FILE."
)
@click.option("--output", metavar="FILE", type=FILE, help="Where the format without a FILE goes.  [default: stdout]")
@click.option("--statistics", is_flag=True, help="Count by rule instead of listing findings.")
@click.option("-j", "--jobs", metavar="N", type=click.IntRange(min=1), default=1, help="Number of processes.  [default: 1]")
@quiet_options
@click.pass_obj
def validate(report: Output, /, models: tuple[Path, ...], **options: Any) -> int:
    """Say what is wrong with quantized models.

    PATHs are files, or folders of which every .onnx below is taken. Settings
    come from the nearest qdqtool.toml, or pyproject.toml with [tool.qdqtool].

    Exit status: 0 clean; 1 findings at or above --fail-on; 2 a file cannot be
    read, or usage; 3 a fix did not pass its check.
    """
    if not options["fix"]:
        # Judging multiplies no matrices, and an idle thread of OpenBLAS spins for longer than a small model takes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from qdqtool import api
    from qdqtool.reports import console

    explain, statistics = options.pop("explain"), options.pop("statistics")
    if explain is not None:
        return _explain(explain)
    if not models:
        raise click.UsageError("Missing argument 'PATH...'.")
    output = options.pop("output")
    outputs = findings.outputs([*options.pop("formats"), *_json(options.pop("json"))], output)
    if statistics and not any(name in findings.SHOWN and file is None for name, file in outputs):
        raise click.UsageError("--statistics is for text on stdout; json holds the statistics anyway")
    _settle(options)
    findings.protect(models, outputs, output, options)
    with console.working(f"validating {', '.join(map(str, models))}"):
        validation = api.validate(models, **options)
    findings.write(report, validation, outputs, statistics=statistics)
    findings.write_noted(report, validation, outputs, options["write_baseline"])
    return validation.status


def _json(file: Path | None) -> list[tuple[str, Path | None]]:
    """``--json FILE`` is short for ``--format json=FILE``."""
    return [] if file is None else [("json", None if str(file) == "-" else file)]


def _explain(code: str) -> int:
    from qdqtool.reports import console
    from qdqtool.reports.rules import rule_text

    found = named(code)
    console.show(lambda width: rule_text(found, width))
    return 0


def _settle(options: dict[str, Any]) -> None:
    """Refuse options that make no sense together, and turn the rest into those of ``api``."""
    exclusive(options, "baseline", "write_baseline")
    if options["unsafe"] and not (options["fix"] or options["diff"]):
        raise click.UsageError("--unsafe goes with --fix or --diff")
    if options["fixed"] is not None and not options["fix"]:
        raise click.UsageError("--fixed goes with --fix")
    for name in ("select", "ignore"):
        if not all(options[name]):
            raise click.UsageError(f"--{name} names no rule")
        options[name] = [word for words in options[name] for word in words] or None
    if options["write_baseline"] is not None:
        findings.require_folder(options["write_baseline"])
    options["config"] = options["config"] or Path.cwd()
