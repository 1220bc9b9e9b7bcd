"""``qdqtool validate``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdqtool.cli.output import Output, quiet_options
from qdqtool.cli.parameters import Format, Words
from qdqtool.cli.sections import Sectioned
from qdqtool.errors import Usage

if TYPE_CHECKING:
    from qdqtool.validation import Validation

FILE = click.Path(path_type=Path, dir_okay=False)
SEVERITY = click.Choice(["error", "warning", "info"])
SECTIONS = {
    "Rules": ("target", "select", "ignore", "fail_on", "baseline", "write_baseline", "config", "explain"),
    "Fixes": ("fix", "unsafe", "diff", "fixed"),
}


@click.command("validate", cls=Sectioned, sections=SECTIONS)
@click.argument("models", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--for", "target", metavar="NAME[@VERSION]", help="What the models shall run in.  [default: the newest ONNX Runtime]")
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
        # The linter multiplies no matrices, and an idle thread of OpenBLAS spins for longer than a small model takes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from qdqtool import api
    from qdqtool.reports import console

    explain, statistics = options.pop("explain"), options.pop("statistics")
    if explain is not None:
        return _explain(explain)
    if not models:
        raise click.UsageError("Missing argument 'PATH...'.")
    outputs = _outputs(options.pop("formats"), options.pop("output"))
    if options["unsafe"] and not (options["fix"] or options["diff"]):
        raise click.UsageError("--unsafe goes with --fix or --diff")
    options |= {name: [word for words in options[name] for word in words] or None for name in ("select", "ignore")}
    options["config"] = options["config"] or Path.cwd()
    with console.working(f"validating {', '.join(map(str, models))}"):
        validation = api.validate(models, **options)
    _write(report, validation, outputs, statistics=statistics)
    return validation.status


def _explain(code: str) -> int:
    from qdqtool import api
    from qdqtool.reports import console
    from qdqtool.reports.rules import rule_text

    found = [rule for rule in api.rules() if code.upper() == rule.code or code == rule.name]
    if not found:
        raise Usage("unknown-rule", f"'{code}' is no rule", hint="`qdqtool rules` lists them")
    console.show(lambda width: rule_text(found[0], width))
    return 0


def _outputs(formats: Sequence[tuple[str, Path | None]], output: Path | None) -> dict[str, Path | None]:
    """Formats with their files; None is stdout, which one can have, and which is text when nobody else asks for it."""
    bare = list(dict.fromkeys(name for name, file in formats if file is None))
    if len(bare) > 1:
        raise Usage("several-formats", f"{' and '.join(bare)} cannot both go to one place", hint=f"--format {bare[-1]}=FILE")
    found = dict(formats) | dict.fromkeys(bare, output)
    if not bare and output is not None:
        found["text"] = output
    for file in found.values():
        if file is not None and not file.parent.is_dir():
            raise Usage("no-such-folder", f"the folder {file.parent} does not exist", where=str(file))
    return found if any(file is None for file in found.values()) else found | {"": None}


def _write(report: Output, validation: Validation, outputs: dict[str, Path | None], *, statistics: bool) -> None:
    from qdqtool.reports import console, formats
    from qdqtool.reports.validation import validation_text

    for name, file in outputs.items():
        if file is not None:
            file.write_text(formats.writer(name)(validation), encoding="utf-8")
        elif name in ("", "text"):
            if report.verbosity >= 0:
                console.show(lambda width: validation_text(validation, width, verbose=report.verbose, statistics=statistics))
        else:
            click.echo(formats.writer(name)(validation), nl=False)
    if report.verbosity < 0 or not {"", "text"} & {name for name, file in outputs.items() if file is None}:
        for error in validation.errors.values():
            report.fail(error)
