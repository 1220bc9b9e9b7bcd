"""The layers of the package, read from its imports: who may import whom, and that names are imported from where they live."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "qdqtool"
FILES = sorted(PACKAGE.rglob("*.py"))

# What a part of the package (the longest prefix counts) may not import. A part is a module or a package below `qdqtool`.
FORBIDDEN = {
    "dtypes": ("onnx", "onnxruntime", "click", "rich", "qdqtool"),
    "exactness": ("onnx", "numpy", "onnxruntime", "click", "rich", "qdqtool"),
    "errors": ("onnx", "numpy", "onnxruntime", "click", "rich", "qdqtool"),
    "quantization": ("onnx", "onnxruntime", "click", "rich"),
    "capabilities": ("onnx", "onnxruntime", "click", "rich"),
    "granularities": ("onnx", "onnxruntime", "click", "rich"),
    "spelling": ("onnx", "onnxruntime", "click", "rich"),
    "expressions": ("onnx", "onnxruntime", "click", "rich"),
    "packed": ("onnx", "onnxruntime", "click", "rich"),
    "kernels": ("onnx", "click", "rich", "qdqtool.model", "qdqtool.plan", "qdqtool.check"),
    "model": ("onnxruntime", "click", "rich", "qdqtool.plan", "qdqtool.check", "qdqtool.lowerings", "qdqtool.dialects"),
    "opsets": ("onnxruntime", "click", "rich", "qdqtool.plan", "qdqtool.check"),
    "dialects": ("onnx", "onnxruntime", "click", "rich", "qdqtool.lowerings", "qdqtool.plan", "qdqtool.check"),
    "targets": ("onnxruntime", "click", "rich", "qdqtool.plan", "qdqtool.check", "qdqtool.model", "qdqtool.api", "qdqtool.reports"),
    "aiming": ("onnxruntime", "click", "rich", "qdqtool.check", "qdqtool.api", "qdqtool.reports"),
    "running": ("onnxruntime", "click", "rich", "qdqtool.check", "qdqtool.api", "qdqtool.reports"),
    "lowerings": ("onnx", "onnxruntime", "click", "rich", "qdqtool.dialects", "qdqtool.check", "qdqtool.model"),
    "raising": ("onnx", "onnxruntime", "click", "rich", "qdqtool.dialects", "qdqtool.check", "qdqtool.model", "qdqtool.plan"),
    "plan": ("onnxruntime", "click", "rich", "qdqtool.api", "qdqtool.reports"),
    "passes": ("onnxruntime", "click", "rich", "qdqtool.api", "qdqtool.reports"),
    "check": ("click", "rich", "qdqtool.api", "qdqtool.reports", "qdqtool.plan"),
    **dict.fromkeys(
        (
            "api",
            "request",
            "pipeline",
            "fold_pipeline",
            "delivery",
            "conversion",
            "changes",
            "folding",
            "result",
            "inspection",
            "comparison",
            "comparing",
        ),
        ("click", "rich", "onnxruntime", "qdqtool.cli", "qdqtool.reports"),
    ),
    **dict.fromkeys(
        ("linting", "rules", "validation"),
        ("click", "rich", "onnxruntime", "qdqtool.check", "qdqtool.pipeline", "qdqtool.plan.build", "qdqtool.reports", "qdqtool.api"),
    ),
    "findings": ("onnx", "numpy", "onnxruntime", "click", "rich", "qdqtool"),
    "reports": ("click", "onnx", "numpy", "onnxruntime", "qdqtool.cli"),
}

# The only parts of the project that these parts may import.
ALLOWED = {
    "cli": ("qdqtool.api", "qdqtool.reports", "qdqtool.errors", "qdqtool.cli", "qdqtool.__version__"),
    "reports": ("qdqtool.reports", "qdqtool.errors", "qdqtool.findings", "qdqtool.__version__"),
}

OPENERS = ("onnx.load", "onnx.load_model", "onnx.save", "onnx.save_model")


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if not is_type_checking(child):
            yield child
            yield from runtime_nodes(child)


def imported(path: Path) -> set[str]:
    """Full names that a file imports, wherever the import stands."""
    names: set[str] = set()
    for node in runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def part_of(path: Path) -> str:
    return module_name(path).removeprefix("qdqtool").removeprefix(".").split(".")[0]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_a_part_imports_only_what_its_layer_may(path: Path) -> None:
    part, names = part_of(path), imported(path)
    wrong = [n for n in names for prefix in FORBIDDEN.get(part, ()) if within(n, prefix)]
    own = [n for n in names if within(n, "qdqtool")]
    wrong += [n for n in own if part in ALLOWED and not any(within(n, prefix) for prefix in ALLOWED[part])]
    assert sorted(wrong) == []


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_only_check_imports_onnxruntime(path: Path) -> None:
    if part_of(path) != "check" and module_name(path) != "qdqtool.kernels.float16":
        assert not [n for n in imported(path) if within(n, "onnxruntime")]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_only_model_opens_model_files(path: Path) -> None:
    if part_of(path) != "model":
        calls = [ast.unparse(n.func) for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
        assert [call for call in calls if call in OPENERS] == []


@pytest.mark.parametrize("folder", ["dialects", "lowerings"])
def test_plugins_do_not_know_each_other(folder: str) -> None:
    plugins = {f"qdqtool.{folder}.{path.stem}" for path in (PACKAGE / folder).iterdir() if path.stem not in ("__init__", "__pycache__")}
    for path in (PACKAGE / folder).rglob("*.py"):
        strangers = {plugin for plugin in plugins if not within(module_name(path), plugin)}
        if len(strangers) < len(plugins):
            assert {n for n in imported(path) if any(within(n, plugin) for plugin in strangers)} == set(), path.name


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_a_file_says_what_it_is_and_stays_readable(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    long = [
        f"{n.name}: {n.end_lineno - n.lineno + 1} lines" for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and body_length(n) > 60
    ]
    assert long == []


def body_length(function: ast.FunctionDef) -> int:
    """Lines after the docstring, which may be long."""
    first = function.body[1] if ast.get_docstring(function) and len(function.body) > 1 else function.body[0]
    return (function.end_lineno or 0) - first.lineno + 1


@pytest.mark.parametrize("statement", ["import qdqtool", "from qdqtool.cli import main; main(['--help'])", "import qdqtool.reports"])
def test_start_up_imports_nothing_heavy(statement: str) -> None:
    report = "import sys; print(sorted({'numpy', 'onnx', 'onnxruntime', 'rich', 'ml_dtypes'} & set(sys.modules)), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", f"{statement}\n{report}"], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stderr == "[]\n"


def test_public_names_resolve() -> None:
    import qdqtool

    for name in qdqtool.__all__:
        assert getattr(qdqtool, name) is not None
    assert dir(qdqtool) == sorted(qdqtool.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = qdqtool.nothing
