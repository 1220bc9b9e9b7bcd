from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.findings import Finding
from qdqtool.linting.baseline import Known
from qdqtool.reports import formats
from qdqtool.reports.validation import validation_text
from qdqtool.validation import Applied, Mended, Validation

ONE = Finding("QDQ201", "scale-zero", "error", "m/a.onnx", "main / conv1", "scale 's' float32[64] holds a 0", "calibrate again", "s")
ODD = Finding("QDQ404", "codes-not-supported", "warning", "m/a.onnx", "", "no kernel", "", "", "ort@1.19", fix="mend it", safe=True)


def shown(validation: Validation, **options: bool) -> str:
    return validation_text(validation, 80, **options).plain


def test_nothing_found() -> None:
    assert shown(Validation("ort@1.32", "error", ("a.onnx",))) == "nothing found in 1 file, judged for ort@1.32\n"


def test_findings_by_file_and_rule() -> None:
    result = Validation("ort@1.19", "error", ("m/a.onnx", "m/b.onnx"), (ONE, replace(ONE, at="main / conv2"), ODD))
    assert (
        shown(result)
        == """\
m/a.onnx
  error    QDQ201 scale-zero
           main / conv1
           main / conv2
           scale 's' float32[64] holds a 0
           hint: calibrate again
  warning  QDQ404 codes-not-supported  (ort@1.19)
           no kernel

    code    rule                 severity  findings  files
    QDQ201  scale-zero           error            2      1
    QDQ404  codes-not-supported  warning          1      1

2 errors, 1 warning in 2 files, judged for ort@1.19
1 finding can be fixed with --fix
"""
    )


def test_a_hint_is_said_where_it_changes() -> None:
    other = replace(ONE, at="main / conv3", hint="look elsewhere")
    text = shown(Validation("ort", "error", ("m/a.onnx",), (ONE, replace(ONE, at="main / conv2"), other)))
    assert [line.strip() for line in text.splitlines() if "hint" in line] == ["hint: calibrate again", "hint: look elsewhere"]


def test_many_equal_findings_are_counted() -> None:
    many = tuple(replace(ONE, at=f"main / conv{i}") for i in range(5))
    result = Validation("ort", "error", ("m/a.onnx",), many)
    assert "conv2" in shown(result)
    assert "conv3" not in shown(result)
    assert "           and 2 more places (-v lists them)\n" in shown(result)
    assert "conv4" in shown(result, verbose=True)
    assert "more" not in shown(result, verbose=True)


def test_different_findings_are_counted() -> None:
    many = tuple(replace(ONE, message=f"message {i // 2}", at=f"main / conv{i}") for i in range(10))
    text = shown(Validation("ort", "error", ("m/a.onnx",), many))
    assert [f"message {i}" in text for i in range(5)] == [True, True, True, False, False]
    assert "           and 4 more places (-v lists them)\n" in text


def test_statistics_replace_the_findings() -> None:
    text = shown(Validation("ort", "error", ("m/a.onnx",), (ONE,)), statistics=True)
    assert "QDQ201  scale-zero  error" in text
    assert "conv1" not in text


def test_names_are_never_cut() -> None:
    place = "main / " + "a" * 100 + " / " + "b" * 100
    assert f"           {place}\n" in shown(Validation("ort", "error", ("m/a.onnx",), (replace(ONE, at=place),)))


def test_what_else_there_is_to_say() -> None:
    known = Known("f" * 16, "QDQ201", "m/a.onnx", "main / gone")
    unread = {"m/b.onnx": Unreadable("empty-file", "m/b.onnx is empty", hint="make it again")}
    unsafe = replace(ODD, safe=False)
    result = Validation("ort", "error", ("m/a.onnx", "m/b.onnx"), (unsafe,), (ONE,), (ONE, ONE), (known,), unread)
    lines = shown(result).splitlines()
    assert "error: m/b.onnx is empty  [empty-file]" in lines
    assert lines[-7:] == [
        "1 warning in 1 file, judged for ort",
        "1 finding can be fixed with --fix --unsafe, which may change results",
        "1 file could not be read",
        "1 finding silenced by the models",
        "2 known findings in the baseline",
        "1 entry of the baseline is no longer found (QDQ201 main / gone);",
        "  --write-baseline drops them",
    ]


def test_files_that_nobody_read_are_not_clean() -> None:
    unread: dict[str, QdqtoolError] = {"b.onnx": Unreadable("empty-file", "b.onnx is empty")}
    none = Validation("ort", "error", ("b.onnx",), errors=unread)
    assert shown(none, failures=False) == "no file could be read\n"
    unmended = {"a.onnx": QdqtoolError("write-failed", "the disk is full")}
    both = Validation("ort", "error", ("a.onnx", "b.onnx"), errors=unread | unmended)
    assert shown(both, failures=False).splitlines() == [
        "nothing found in 1 file, judged for ort",
        "1 file could not be read",
        "1 file could not be mended",
    ]


def test_fixes() -> None:
    fix = Applied("QDQ135", "scalar-against-vector-of-one", "main / q", "give the zero point the shape []", True)
    mended = Mended("a.onnx", (fix, replace(fix, at="main / d"), replace(fix, title="guess", safe=False)), "-old\n+new\n")
    result = Validation("ort", "error", ("a.onnx",), mended=(mended,))
    assert (
        shown(result)
        == """\
a.onnx: 3 fixes, not written
  QDQ135     2 x scalar-against-vector-of-one: give the zero point the shape []
  QDQ135     1 x scalar-against-vector-of-one: guess (unsafe)
-old
+new

nothing found in 1 file, judged for ort
"""
    )
    written = replace(result, mended=(replace(mended, written=Path("b.onnx")),))
    assert shown(written).startswith("a.onnx: 3 fixes, written to b.onnx\n")
    assert "+new" not in shown(written)


def test_formats_are_found_by_name() -> None:
    assert {"json", "text"} <= set(formats.names())
    result = Validation("ort", "error", ("m/a.onnx",), tuple(replace(ONE, at=f"main / conv{i}") for i in range(5)))
    assert formats.writer("text")(result).count("main / conv") == 5
    assert all(isinstance(formats.writer(name)(result), str) for name in formats.names())


def test_status() -> None:
    sound = Validation("ort", "error", ("a.onnx",), (ODD,))
    assert (sound.status, replace(sound, fail_on="warning").status, replace(sound, fail_on="info").status) == (0, 1, 1)
    assert replace(sound, errors={"a": Unreadable("x", "x")}).status == 2
    assert replace(sound, errors={"a": Unreadable("x", "x"), "b": SimpleNamespace(status=3)}).status == 3  # type: ignore[dict-item]
