"""What the command line prints in typical cases, kept in ``golden/``; ``python -m tests.cli.golden`` rewrites the files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from onnx import parser

from tests.conftest import PLAIN, ROOT, Run, furnish

FOLDER = Path(__file__).with_name("golden")

CASES = {
    # fine
    "convert-down": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13",
    "convert-up": "convert fixtures/opset_13.onnx -o out.onnx --opset 23",
    "convert-verbose": "convert fixtures/subgraph_21.onnx -o out.onnx --opset 17 -v",
    "convert-quiet": "convert fixtures/opset_13.onnx -o out.onnx --opset 17 -q",
    "convert-json": "convert fixtures/opset_21.onnx -o out.onnx --opset 17 --json -",
    "convert-nothing-to-do": "convert fixtures/opset_13.onnx -o out.onnx --opset 13",
    "convert-no-check": "convert fixtures/external_21.onnx -o out.onnx --opset 13 --no-check",
    "convert-dry-run": "convert fixtures/function_21.onnx --opset 13 --dry-run",
    "convert-evaluator-only": "convert fixtures/opset_28.onnx -o out.onnx --opset 25",
    "convert-to-ai-onnx": "convert fixtures/com_microsoft_17.onnx -o out.onnx --opset 21 --to ai.onnx",
    "convert-to-com-microsoft": "convert fixtures/opset_13.onnx -o out.onnx --to com.microsoft",
    "convert-for-older": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17",
    "convert-for-kernels": "convert fixtures/opset_28.onnx -o out.onnx --for ort@1.32",
    "convert-for-spelling": "convert fixtures/opset_21.onnx -o out.onnx --for ort@1.18",
    "convert-for-nothing-to-do": "convert fixtures/conv_13.onnx -o out.onnx --for ort@1.22.1",
    "convert-for-caution": "convert reshaped.onnx -o out.onnx --for ort@1.15 --opset 19",
    "convert-in-place": "convert fixtures/conv_13.onnx --in-place --opset 21",
    "inspect": "inspect fixtures/int4_blocked_21.onnx",
    "inspect-functions": "inspect fixtures/function_21.onnx",
    "inspect-json": "inspect fixtures/conv_13.onnx --json - -q",
    "targets": "targets",
    "targets-one": "targets ort@1.22",
    "targets-json": "targets opset@17 --json - -q",
    # refused
    "refused": "convert float8_result.onnx -o out.onnx --opset 17",
    "refused-for-runtime": "convert float8_result.onnx -o out.onnx --for ort@1.15",
    "refused-json": "convert float8_result.onnx -o out.onnx --opset 17 --json - -q",
    # the check cannot run
    "check-required": "convert custom.onnx -o out.onnx --opset 17 --require-check",
    "check-impossible": "convert custom.onnx -o out.onnx --opset 17",
    # wrong usage
    "no-target": "convert fixtures/int4_blocked_21.onnx -o out.onnx",
    "no-output": "convert fixtures/int4_blocked_21.onnx --opset 13",
    "output-is-input": "convert fixtures/int4_blocked_21.onnx -o fixtures/../fixtures/int4_blocked_21.onnx --opset 13",
    "output-is-pipe": "convert fixtures/int4_blocked_21.onnx -o pipe --opset 13",
    "no-such-folder": "convert fixtures/int4_blocked_21.onnx -o nowhere/out.onnx --opset 13",
    "opset-99": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 99",
    "opset-0": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 0",
    "unknown-target": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for tensorrt@10.0",
    "unknown-target-shown": "targets qnn",
    "unknown-version": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.14",
    "opset-out-of-reach": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17 --opset 23",
    "ir-out-of-reach": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17 --ir-version 10",
    "unknown-dialect": "convert fixtures/int4_blocked_21.onnx -o out.onnx --to qonnx",
    "no-such-library": "convert custom.onnx -o out.onnx --opset 17 --custom-ops nothing.so",
    "negative-seed": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --seed -1",
    "json-into-nowhere": "inspect fixtures/int4_blocked_21.onnx --json nowhere/record.json",
    "exclusive": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --exact --allow approximate",
    # unreadable
    "missing": "convert nothing.onnx -o out.onnx --opset 13",
    "folder": "inspect fixtures",
    "empty": "inspect empty.onnx",
    "text": "convert text.onnx -o out.onnx --opset 13",
    "truncated": "convert truncated.onnx -o out.onnx --opset 13",
    "lfs-pointer": "convert pointer.onnx -o out.onnx --opset 13",
    "external-missing": "convert missing_data.onnx -o out.onnx --opset 13",
    "external-short": "convert short/external_21.onnx -o out.onnx --opset 13",
    "model-of-opset-99": "convert opset_99.onnx -o out.onnx --opset 13",
}

RESULT = """<ir_version: 9, opset_import: ["" : OPSET]>
g (float[N, 8] x) => (TYPE[N, 8] y) { [quantize] y = QuantizeLinear(x, s, z) }"""
CUSTOM = """<ir_version: 9, opset_import: ["" : 19, "acme" : 1]>
g (float16[N, 8] x, float16 s) => (float16[N, 8] y) {
    [quantize] q = QuantizeLinear(x, s)
    [dequantize] d = DequantizeLinear(q, s)
    [special] y = acme.Special(d)
}"""

RESHAPED = """<ir_version: 8, opset_import: ["" : 18]>
g (float[2, 8] x) => (float[16] y) <int64[1] shape = {16}> { [flat] y = Reshape(x, shape) }"""


def odd_files(folder: Path) -> None:
    """Models that are refused or cannot be read, beside the fixtures."""
    whole = (ROOT / "fixtures" / "int4_blocked_21.onnx").read_bytes()
    outside = (ROOT / "fixtures" / "external_21.onnx").read_bytes()
    os.mkfifo(folder / "pipe")
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "text.onnx").write_text("this is no model\n", encoding="utf-8")
    (folder / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (folder / "pointer.onnx").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3301\n", encoding="utf-8"
    )
    (folder / "missing_data.onnx").write_bytes(outside)
    (folder / "short").mkdir()
    (folder / "short" / "external_21.onnx").write_bytes(outside)
    (folder / "short" / "external_21.bin").write_bytes(b"\0" * 100)
    (folder / "float8_result.onnx").write_bytes(result("float8e4m3fn", 17, 19))
    (folder / "custom.onnx").write_bytes(parser.parse_model(CUSTOM).SerializeToString())
    (folder / "reshaped.onnx").write_bytes(parser.parse_model(RESHAPED).SerializeToString())
    (folder / "opset_99.onnx").write_bytes(result("uint8", 2, 99))


def result(name: str, code: int, opset: int) -> bytes:
    """A model that ends in a QuantizeLinear to the named type."""
    model = parser.parse_model(RESULT.replace("TYPE", name).replace("OPSET", str(opset)))
    model.graph.initializer.add(name="s", data_type=1, float_data=[0.5])
    model.graph.initializer.add(name="z", data_type=code, raw_data=b"\0")
    return bytes(model.SerializeToString())


def rendered(command: str, run: Run, folder: Path) -> str:
    """The text of a golden file."""
    text = f"$ qdqtool {command}\nexit status {run.status}\n--- stdout\n{run.out}--- stderr\n{run.err}"
    return text.replace(str(folder.resolve()), "<here>").replace(str(folder), "<here>")


def main() -> None:
    """Rewrite all files."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for name, command in CASES.items():
        with TemporaryDirectory() as place:
            furnish(Path(place))
            odd_files(Path(place))
            process = subprocess.run(
                [sys.executable, "-m", "qdqtool", *shlex.split(command)],
                cwd=place,
                env=os.environ | PLAIN | {"PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=False,
            )
            text = rendered(command, Run(process.returncode, process.stdout, process.stderr), Path(place))
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
