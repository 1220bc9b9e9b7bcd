"""What the command line prints in typical cases, kept in ``golden/``; ``python -m tests.cli.golden`` rewrites the files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from onnx import ModelProto, parser

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
    "convert-to-matmulnbits": "convert fixtures/int4_blocked_21.onnx -o out.onnx --to matmulnbits",
    "convert-to-com-microsoft-in-blocks": "convert fixtures/int4_blocked_21.onnx -o out.onnx --to com.microsoft",
    "convert-to-nothing": "convert fixtures/int4_blocked_21.onnx -o out.onnx --to qoperator",
    "convert-for-older": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17",
    "convert-for-kernels": "convert fixtures/opset_28.onnx -o out.onnx --for ort@1.32",
    "convert-for-spelling": "convert fixtures/opset_21.onnx -o out.onnx --for ort@1.18",
    "convert-for-nothing-to-do": "convert fixtures/conv_13.onnx -o out.onnx --for ort@1.22.1",
    "convert-for-caution": "convert reshaped.onnx -o out.onnx --for ort@1.15 --opset 19",
    "convert-data-name-taken": "convert fixtures/external_21.onnx -o out.onnx --opset 13 --external-data taken.bin",
    "convert-in-place": "convert fixtures/conv_13.onnx --in-place --opset 21",
    "fold": "fold fixtures/fake_quant_21.onnx -o out.onnx",
    "fold-move": "fold fixtures/fake_quant_21.onnx -o out.onnx --move",
    "fold-weights": "fold fixtures/conv_13.onnx -o out.onnx --weights -v",
    "fold-bias": "fold fixtures/conv_13.onnx -o out.onnx --bias",
    "fold-external": "fold fixtures/external_21.onnx -o out.onnx --weights --external-data out.bin",
    "fold-subgraph": "fold fixtures/subgraph_21.onnx -o out.onnx --weights",
    "fold-function": "fold fixtures/function_21.onnx -o out.onnx --weights",
    "fold-evaluator-only": "fold fixtures/opset_28.onnx -o out.onnx --weights",
    "fold-only": "fold fixtures/int4_blocked_21.onnx -o out.onnx --weights --only op:MatMul,type:uint4 --only size:<100",
    "fold-only-nothing": "fold fixtures/int4_blocked_21.onnx -o out.onnx --weights --only nothing",
    "fold-growth": "fold fixtures/int4_blocked_21.onnx -o out.onnx --weights --max-growth 5kB",
    "fold-nothing-to-do": "fold fixtures/int4_blocked_21.onnx -o out.onnx",
    "fold-switched-off": "fold fixtures/fake_quant_21.onnx -o out.onnx --no-quantize --no-pairs --no-scales",
    "fold-dry-run": "fold fixtures/fake_quant_21.onnx --weights --dry-run",
    "fold-in-place": "fold fixtures/fake_quant_21.onnx --in-place --no-check",
    "fold-quiet": "fold fixtures/fake_quant_21.onnx -o out.onnx -q",
    "fold-json": "fold fixtures/fake_quant_21.onnx -o out.onnx --no-check --json - -q",
    "compare": "compare fixtures/conv_13.onnx scaled.onnx",
    "compare-json": "compare fixtures/conv_13.onnx scaled.onnx --json - -q",
    "compare-not-compared": "compare fixtures/conv_13.onnx fixtures/opset_13.onnx",
    "compare-same": "compare fixtures/conv_13.onnx same.onnx -v",
    "inspect": "inspect fixtures/int4_blocked_21.onnx",
    "inspect-functions": "inspect fixtures/function_21.onnx",
    "inspect-json": "inspect fixtures/conv_13.onnx --json - -q",
    "targets": "targets",
    "targets-one": "targets ort@1.22",
    "targets-vendor": "targets coreml",
    "targets-json": "targets opset@17 --json - -q",
    "validate": "validate zero.onnx fixtures/conv_13.onnx",
    "validate-clean": "validate fixtures/conv_13.onnx",
    "validate-diff": "validate shapes.onnx --diff",
    "validate-explain": "validate --explain scale-not-finite",
    "validate-fail-on": "validate shapes.onnx --fail-on warning",
    "validate-for": "validate fixtures/int4_blocked_21.onnx --for ort@1.17",
    "validate-for-vendor": "validate fixtures/int4_blocked_21.onnx --for tensorrt@10.0",
    "validate-json": "validate zero.onnx --format json",
    "validate-quiet": "validate zero.onnx empty.onnx -q",
    "rules-one": "rules scale-not-finite",
    "validate-json-short": "validate fixtures/conv_13.onnx --json - -q",
    "validate-none-read": "validate nothing.onnx",
    "validate-select": "validate zero.onnx --select QDQ3,scale-not-finite",
    "validate-statistics": "validate zero.onnx shapes.onnx --statistics",
    "validate-unreadable": "validate empty.onnx zero.onnx nothing.onnx",
    # refused
    "refused": "convert float8_result.onnx -o out.onnx --opset 17",
    "refused-for-runtime": "convert float8_result.onnx -o out.onnx --for ort@1.15",
    "refused-for-vendor": "convert fixtures/conv_13.onnx --for tensorrt@10.0 --dry-run",
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
    "unknown-target": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for tensorflow",
    "unknown-target-shown": "targets tensorflow",
    "target-for-validate-only": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for migraphx",
    "unknown-version": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.14",
    "opset-out-of-reach": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17 --opset 23",
    "ir-out-of-reach": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17 --ir-version 10",
    "unknown-dialect": "convert fixtures/int4_blocked_21.onnx -o out.onnx --to qonnx",
    "no-such-library": "convert custom.onnx -o out.onnx --opset 17 --custom-ops nothing.so",
    "negative-seed": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --seed -1",
    "json-over-model": "inspect fixtures/int4_blocked_21.onnx --json fixtures/../fixtures/int4_blocked_21.onnx",
    "json-over-input": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --json fixtures/int4_blocked_21.onnx",
    "json-over-output": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --json out.onnx",
    "json-over-weights": "fold fixtures/external_21.onnx -o out.onnx --weights --json fixtures/external_21.bin",
    "json-over-second": "compare fixtures/conv_13.onnx scaled.onnx --json scaled.onnx",
    "output-is-stdout": "convert fixtures/int4_blocked_21.onnx -o - --opset 13",
    "data-name-climbs": "convert fixtures/external_21.onnx -o out.onnx --opset 13 --external-data ../w.bin",
    "data-name-absolute": "fold fixtures/external_21.onnx -o out.onnx --weights --external-data /w.bin",
    "data-name-empty": "convert fixtures/external_21.onnx -o out.onnx --opset 13 --external-data ''",
    "given-twice": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --opset 17",
    "two-targets": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for ort@1.17,tvm",
    "quiet-and-verbose": "inspect fixtures/int4_blocked_21.onnx -q -v",
    "json-into-nowhere": "inspect fixtures/int4_blocked_21.onnx --json nowhere/record.json",
    "exclusive": "convert fixtures/int4_blocked_21.onnx -o out.onnx --opset 13 --exact --allow approximate",
    "target-with-modes": "convert fixtures/int4_blocked_21.onnx -o out.onnx --for vitis",
    "compare-nothing-else": "compare fixtures/conv_13.onnx fixtures/conv_13.onnx",
    "compare-nothing": "compare fixtures/conv_13.onnx",
    "compare-unknown-runtime": "compare fixtures/conv_13.onnx --in tensorrt",
    "rules-group": "rules QDQ3",
    "validate-over-data": "validate fixtures/external_21.onnx --output fixtures/external_21.bin",
    "validate-over-model": "validate zero.onnx --format sarif=zero.onnx",
    "validate-baseline-over-model": "validate zero.onnx --write-baseline zero.onnx",
    "validate-baseline-is-model": "validate zero.onnx --baseline zero.onnx",
    "validate-one-file": "validate zero.onnx --format sarif=found --format junit=found",
    "validate-no-model": "validate short/nothing",
    "validate-no-path": "validate",
    "validate-two-formats": "validate zero.onnx --format json --format text",
    "validate-unknown-format": "validate zero.onnx --format html",
    "validate-unknown-rule": "validate zero.onnx --ignore QDQ999",
    "validate-unknown-setting": "validate zero.onnx --config short/wrong.toml",
    "fold-no-output": "fold fixtures/conv_13.onnx --weights",
    "fold-output-is-input": "fold fixtures/conv_13.onnx -o fixtures/../fixtures/conv_13.onnx",
    "fold-unknown-condition": "fold fixtures/conv_13.onnx -o out.onnx --weights --only typ:int8",
    "fold-pattern": "fold fixtures/conv_13.onnx -o out.onnx --weights --only size:large",
    "fold-empty-pattern": "fold fixtures/conv_13.onnx -o out.onnx --weights --skip type:",
    "fold-no-amount": "fold fixtures/conv_13.onnx -o out.onnx --weights --max-growth plenty",
    "fold-two-checks": "fold fixtures/conv_13.onnx -o out.onnx --no-check --require-check",
    # unreadable
    "fold-missing": "fold nothing.onnx -o out.onnx",
    "fold-external-missing": "fold missing_data.onnx -o out.onnx --weights",
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

PAIR = """<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 4] x) => (float[2, 4] y) {
    [quantize] q = QuantizeLinear(x, s, z)
    [dequantize] y = DequantizeLinear(q, s, z)
}"""

RESHAPED = """<ir_version: 8, opset_import: ["" : 18]>
g (float[2, 8] x) => (float[16] y) <int64[1] shape = {16}> { [flat] y = Reshape(x, shape) }"""


def odd_files(folder: Path) -> None:
    """Models that are refused or cannot be read, beside the fixtures."""
    whole = (ROOT / "fixtures" / "int4_blocked_21.onnx").read_bytes()
    outside = (ROOT / "fixtures" / "external_21.onnx").read_bytes()
    os.mkfifo(folder / "pipe")
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "taken.bin").write_bytes(b"of another model")
    (folder / "text.onnx").write_text("this is no model\n", encoding="utf-8")
    (folder / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (folder / "pointer.onnx").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3301\n", encoding="utf-8"
    )
    (folder / "missing_data.onnx").write_bytes(outside)
    (folder / "short" / "nothing").mkdir(parents=True)
    (folder / "short" / "external_21.onnx").write_bytes(outside)
    (folder / "short" / "external_21.bin").write_bytes(b"\0" * 100)
    (folder / "float8_result.onnx").write_bytes(result("float8e4m3fn", 17, 19))
    (folder / "custom.onnx").write_bytes(parser.parse_model(CUSTOM).SerializeToString())
    (folder / "reshaped.onnx").write_bytes(parser.parse_model(RESHAPED).SerializeToString())
    (folder / "zero.onnx").write_bytes(pair(0.0, []))
    (folder / "shapes.onnx").write_bytes(pair(0.5, [1]))
    (folder / "short" / "wrong.toml").write_text('selct = ["QDQ2"]\n', encoding="utf-8")
    (folder / "scaled.onnx").write_bytes(scaled(2.0))
    (folder / "same.onnx").write_bytes(scaled(1.0))
    (folder / "opset_99.onnx").write_bytes(result("uint8", 2, 99))


def result(name: str, code: int, opset: int) -> bytes:
    """A model that ends in a QuantizeLinear to the named type."""
    model = parser.parse_model(RESULT.replace("TYPE", name).replace("OPSET", str(opset)))
    model.graph.initializer.add(name="s", data_type=1, float_data=[0.5])
    model.graph.initializer.add(name="z", data_type=code, raw_data=b"\0")
    return bytes(model.SerializeToString())


def scaled(factor: float) -> bytes:
    """A fixture with other scales of its weight, and a note."""
    model = ModelProto.FromString((ROOT / "fixtures" / "conv_13.onnx").read_bytes())
    model.doc_string = "from another converter"
    tensor = next(tensor for tensor in model.graph.initializer if tensor.name == "w_scale")
    tensor.raw_data = (np.frombuffer(tensor.raw_data, np.float32) * np.float32(factor)).tobytes()
    return bytes(model.SerializeToString())


def pair(scale: float, zero_point: list[int]) -> bytes:
    """A QuantizeLinear and a DequantizeLinear with this scale, and a zero point of this shape."""
    model = parser.parse_model(PAIR)
    model.graph.initializer.add(name="s", data_type=1, float_data=[scale])
    model.graph.initializer.add(name="z", data_type=2, dims=zero_point, raw_data=b"\7")
    return bytes(model.SerializeToString())


def rendered(command: str, run: Run, folder: Path) -> str:
    """The text of a golden file."""
    text = f"$ qdqtool {command}\nexit status {run.status}\n--- stdout\n{run.out}--- stderr\n{run.err}"
    text = re.sub(r'(?<="seconds": )[\d.e-]+', "<time>", text)
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
