"""What a file is when it is no ONNX model, told from its content."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]
from onnx import GraphProto, TensorProto

from qdqtool.model.external import LFS

HEAD = 1 << 16
"""Bytes from the beginning that `recognise` wants to see."""

Verdict = tuple[str, str]


def recognise(head: bytes) -> Verdict | None:
    """What a file that begins with `head` is, and the way out; None when it is nothing known."""
    for found, what, hint in _KINDS:
        if found(head):
            return what, hint
    return None


def _begins(*magics: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(magics)


def _flatbuffer(magic: bytes) -> Callable[[bytes], bool]:
    return lambda head: head[4:8] == magic


def _safetensors(head: bytes) -> bool:
    return head[8:10] in (b'{"', b"{}") and int.from_bytes(head[:8], "little") < 1 << 40


def _json(head: bytes) -> bool:
    return head.lstrip()[:1] in (b"{", b"[") and _is_text(head)


def _onnx_text(head: bytes) -> bool:
    return _is_text(head) and head.lstrip()[:1] == b"<" and b"ir_version" in head


def _protobuf_text(head: bytes) -> bool:
    return _is_text(head) and any(word in head for word in (b"ir_version:", b"graph {", b"opset_import {", b"graph: {"))


def _html(head: bytes) -> bool:
    return head.lstrip()[:15].lower().startswith((b"<!doctype", b"<html"))


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        text = head[: error.start].decode("utf-8") if error.start > len(head) - 4 else "\0"
    return bool(text.strip()) and all(c.isprintable() or c in "\r\n\t" for c in text)


def _tensor(head: bytes) -> bool:
    tensor = TensorProto()
    return _parses(tensor, head) and tensor.data_type in range(1, 64) and len(tensor.ListFields()) > 2


def _bare_graph(head: bytes) -> bool:
    graph = GraphProto()
    return _parses(graph, head) and any(node.op_type for node in graph.node)


def _parses(message: TensorProto | GraphProto, data: bytes) -> bool:
    try:
        message.ParseFromString(data)
    except DecodeError:
        return False
    return True


_BINARY = "turn it into a binary model: onnx.save({}, 'model.onnx')"

_TORCH = "export the model with torch.onnx.export"
_KINDS: tuple[tuple[Callable[[bytes], bool], str, str], ...] = (
    (_begins(LFS), "a git-lfs pointer", "`git lfs pull` fetches the model"),
    (_flatbuffer(b"ORTM"), "an ONNX Runtime (.ort) model", "use the .onnx file it was made from"),
    (_flatbuffer(b"TFL3"), "a TensorFlow Lite model", "export it with tf2onnx first"),
    (_begins(b"\x1f\x8b"), "gzip data", "unpack it with gunzip first"),
    (_begins(b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"), "compressed data", "unpack it first"),
    (_begins(b"PK\x03\x04", b"PK\x05\x06"), "a zip archive (as PyTorch and Keras files are)", _TORCH),
    (_begins(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a Python pickle, as older PyTorch files are", _TORCH),
    (_begins(b"\x89HDF\r\n\x1a\n"), "an HDF5 (Keras) file", "export it with tf2onnx first"),
    (_begins(b"GGUF"), "a GGUF model", "use the ONNX export of the model"),
    (_begins(b"\x93NUMPY"), "a numpy array", "name the .onnx file"),
    (_safetensors, "a safetensors file: weights without a graph", "name the .onnx file beside it"),
    (_html, "a web page", "download the file itself, not the page that shows it"),
    (_json, "JSON text", _BINARY.format("onnx.load(FILE, format='json')")),
    (_onnx_text, "a model in ONNX's text syntax", _BINARY.format("onnx.parser.parse_model(TEXT)")),
    (_protobuf_text, "a model in protobuf's text format", _BINARY.format("onnx.load(FILE, format='textproto')")),
    (_is_text, "a text file", "name an .onnx file"),
    (_tensor, "a single ONNX tensor (.pb)", "name the model file"),
    (_bare_graph, "an ONNX graph without its model", "wrap it with onnx.helper.make_model"),
)
