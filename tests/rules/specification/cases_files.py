"""What is wrong with the file: imports, IR version, wiring, constants."""

from __future__ import annotations

from collections.abc import Callable

from onnx import FunctionProto, ModelProto, TensorProto, helper

from qdqtool import dtypes as t
from tests.rules.case import Case, changed, codes, constant, inserted, ir, model, operands, operator, opset, results, scales, tensor, zeros

PAIR = model("g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 21, s=0.5, z=zeros(t.INT8))
PAIR_13 = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 13, s=0.5, z=zeros(t.INT8)
)
CHAIN = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) r = Relu(d) y = Abs(r) }",
    21,
    s=0.5,
    z=zeros(t.INT8),
)
MICROSOFT = model(
    "g (float[4,6] x) => (float[4,6] y) { q = com.microsoft.QuantizeLinear(x, s, z) y = com.microsoft.DequantizeLinear(q, s, z) }",
    17,
    imports={"com.microsoft": 1},
    s=0.5,
    z=zeros(t.INT8),
)
GELU = model("g (float[4,6] x) => (float[4,6] y) { y = com.microsoft.Gelu(x) }", 17, imports={"com.microsoft": 1})
SCALER = model(
    "g (float[4,6] x) => (float[4,6] y) { y = ai.onnx.ml.Scaler <offset = [0.0], scale = [2.0]> (x) }", 17, imports={"ai.onnx.ml": 3}
)
BLOCKS = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1, block_size = 3> (c, s) y = MatMul(x, w) }",
    21,
    c=codes(t.INT4, 4, 6),
    s=scales(4, 2),
)
FLOAT8 = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear(c, s) y = MatMul(x, w) }", 19, c=codes(t.FLOAT8E4M3FN, 4, 6), s=0.5
)
BRANCH = model(
    """g (float[4,6] x, bool b) => (float[4,6] y) {
        q = QuantizeLinear(x, s, z)
        y = If (b) <
            then_branch = th () => (float[4,6] a) { a = DequantizeLinear(q, s, z) },
            else_branch = el () => (float[4,6] e) { e = Neg(x) }
        >
    }""",
    21,
    s=0.5,
    z=zeros(t.INT8),
)


def fake_quantize() -> ModelProto:
    """A pair as a function of the model."""
    proto = model("g (float[4,6] x) => (float[4,6] y) { y = own.FakeQuantize(x, s, z) }", 21, imports={"own": 1}, s=0.5, z=zeros(t.INT8))
    nodes = [
        helper.make_node("QuantizeLinear", ["a", "b", "c"], ["q"], name="q"),
        helper.make_node("DequantizeLinear", ["q", "b", "c"], ["r"], name="r"),
    ]
    proto.functions.append(helper.make_function("own", "FakeQuantize", ["a", "b", "c"], ["r"], nodes, [helper.make_opsetid("", 21)]))
    return proto


FUNCTION = fake_quantize()
Edit = Callable[[ModelProto], object]


def in_function(edit: Callable[[FunctionProto], object]) -> Edit:
    return lambda proto: edit(proto.functions[0])


def without_import(*domains: str) -> Edit:
    def edit(proto: ModelProto) -> None:
        kept = [o for o in proto.opset_import if o.domain not in domains]
        del proto.opset_import[:]
        proto.opset_import.extend(kept)

    return edit


def imported_again(version: int, domain: str = "") -> Edit:
    return lambda proto: proto.opset_import.append(helper.make_opsetid(domain, version))


def imported_first(version: int, domain: str) -> Edit:
    return lambda proto: proto.opset_import.insert(0, helper.make_opsetid(domain, version))


def order(*indices: int) -> Edit:
    def edit(proto: ModelProto) -> None:
        nodes = [proto.graph.node[i] for i in indices]
        copies = [type(n).FromString(n.SerializeToString()) for n in nodes]
        del proto.graph.node[:]
        proto.graph.node.extend(copies)

    return edit


def raw(name: str, data: bytes) -> Edit:
    return lambda proto: setattr(tensor(proto, name), "raw_data", data)


def dims(name: str, *sizes: int) -> Edit:
    def edit(proto: ModelProto) -> None:
        tensor(proto, name).dims[:] = sizes

    return edit


def data_type(name: str, code: int) -> Edit:
    return lambda proto: setattr(tensor(proto, name), "data_type", code)


def typed_field(name: str, count: int) -> Edit:
    def edit(proto: ModelProto) -> None:
        found = tensor(proto, name)
        found.ClearField("raw_data")
        found.int32_data.extend([0] * count)

    return edit


def inputs_too(proto: ModelProto) -> None:
    """Every initializer as a graph input."""
    for found in proto.graph.initializer:
        proto.graph.input.append(helper.make_tensor_value_info(found.name, found.data_type, list(found.dims)))


def no_outputs(proto: ModelProto) -> None:
    del proto.graph.output[:]


LISTED_3 = changed(PAIR_13, inputs_too, ir(3))
LISTED_BLOCKS = changed(PAIR, inputs_too, ir(3))
LISTED_10 = changed(MICROSOFT, inputs_too, ir(3))


def no_input(name: str) -> Edit:
    return lambda proto: proto.graph.input.remove(next(v for v in proto.graph.input if v.name == name))


def calling(domain: str, op: str) -> Edit:
    """A node of the function in place of its second."""

    def edit(proto: ModelProto) -> None:
        found = proto.functions[0].node[1]
        found.op_type, found.domain = op, domain
        proto.functions[0].opset_import.append(helper.make_opsetid(domain, 1))

    return edit


def second(proto: ModelProto) -> None:
    """A second function which calls the first, and the first it."""
    other = FunctionProto()
    other.CopyFrom(proto.functions[0])
    other.name = "Other"
    proto.functions.append(other)
    for function, name in zip(proto.functions, ("Other", "FakeQuantize"), strict=True):
        function.node[1].op_type, function.node[1].domain = name, "own"
        function.opset_import.append(helper.make_opsetid("own", 1))


def nested(proto: ModelProto) -> None:
    """The call stands in a branch of the function."""
    call = helper.make_node("FakeQuantize", ["a", "b", "c"], ["t"], domain="own", name="t")
    graph = helper.make_graph([call], "th", [], [helper.make_tensor_value_info("t", 1, [4, 6])])
    other = helper.make_graph([helper.make_node("Neg", ["a"], ["e"])], "el", [], [helper.make_tensor_value_info("e", 1, [4, 6])])
    yes = helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("yes", TensorProto.BOOL, [], [True]))
    function = proto.functions[0]
    function.node.insert(0, yes)
    function.node[2].CopyFrom(helper.make_node("If", ["yes"], ["r"], then_branch=graph, else_branch=other, name="r"))
    function.opset_import.append(helper.make_opsetid("own", 1))


# External data: the codes of BLOCKS (12 bytes) and its scales (32 bytes) in one file.
def compiled(source: str) -> Edit:
    node = helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", name="context", source=source, ep_cache_context="c.bin")

    def edit(proto: ModelProto) -> None:
        del proto.graph.node[:]
        proto.graph.node.append(node)
        del proto.graph.initializer[:]
        opset(1, "com.microsoft")(proto)

    return edit


def garbled(good: ModelProto, old: bytes, new: bytes) -> ModelProto:
    """Damage in the bytes of the file."""
    return ModelProto.FromString(good.SerializeToString().replace(old, new, 1))


CASES = (
    # 102
    Case("opset 0", PAIR, changed(PAIR, opset(0)), "QDQ102", "opset 0 of the main domain does not exist; the newest known is 28"),
    Case("opset 99", PAIR, changed(PAIR, opset(99)), "QDQ102", "opset 99 of the main domain does not exist; the newest known is 28"),
    Case(
        "opset -1 as ai.onnx",
        PAIR,
        changed(PAIR, without_import(""), opset(-1, "ai.onnx")),
        "QDQ102",
        "opset -1 of the main domain does not exist; the newest known is 28",
    ),
    # 103
    Case("no import at all", PAIR, changed(PAIR, without_import("")), "QDQ103", "2 nodes use the main domain, which is not imported"),
    Case(
        "com.microsoft not imported",
        MICROSOFT,
        changed(MICROSOFT, without_import("com.microsoft")),
        "QDQ103",
        "2 nodes use the domain 'com.microsoft', which is not imported; ONNX Runtime takes its own version",
        "warning",
    ),
    Case(
        "ai.onnx.ml not imported",
        SCALER,
        changed(SCALER, without_import("ai.onnx.ml")),
        "QDQ103",
        "1 node uses the domain 'ai.onnx.ml', which is not imported; ONNX Runtime takes its own version",
        "warning",
    ),
    Case(
        "the domain of a function not imported",
        FUNCTION,
        changed(FUNCTION, without_import("own")),
        "QDQ103",
        "1 node uses the domain 'own', which is not imported",
    ),
    Case(
        "an unknown domain not imported",
        CHAIN,
        changed(CHAIN, operator("r", "Relu", "somewhere")),
        "QDQ103",
        "1 node uses the domain 'somewhere', which is not imported",
    ),
    Case(
        "a function that imports nothing",
        FUNCTION,
        changed(FUNCTION, in_function(lambda f: f.ClearField("opset_import"))),
        "QDQ103",
        "2 nodes use the main domain, which is not imported",
    ),
    # 104
    Case(
        "the main domain twice",
        PAIR,
        changed(PAIR, imported_first(13, "")),
        "QDQ104",
        "the main domain is imported 2 times (13, 21); ONNX Runtime takes 21",
        "warning",
    ),
    Case(
        "the main domain by both names",
        PAIR,
        changed(PAIR, imported_first(19, "ai.onnx")),
        "QDQ104",
        "the main domain is imported 2 times (19, 21); ONNX Runtime takes 21",
        "warning",
    ),
    Case(
        "com.microsoft twice",
        MICROSOFT,
        changed(MICROSOFT, imported_again(1, "com.microsoft")),
        "QDQ104",
        "the domain 'com.microsoft' is imported 2 times (1, 1); ONNX Runtime takes 1",
        "warning",
    ),
    # 150
    Case("int4 at IR 9", BLOCKS, changed(BLOCKS, ir(9)), "QDQ150", "ir_version is 9; element type int4 needs 10", "warning"),
    Case("float8 at IR 8", FLOAT8, changed(FLOAT8, ir(8)), "QDQ150", "ir_version is 8; element type float8e4m3fn needs 9", "warning"),
    Case("a function at IR 7", FUNCTION, changed(FUNCTION, ir(7)), "QDQ150", "ir_version is 7; function FakeQuantize needs 8", "warning"),
    # 151
    Case(
        "a scale that is no input at IR 3",
        LISTED_3,
        changed(LISTED_3, no_input("s")),
        "QDQ151",
        "1 initializers, first 's', are no graph inputs, which ir_version 3 asks for",
        "warning",
    ),
    Case(
        "a zero point that is no input at IR 3",
        LISTED_BLOCKS,
        changed(LISTED_BLOCKS, no_input("z")),
        "QDQ151",
        "1 initializers, first 'z', are no graph inputs, which ir_version 3 asks for",
        "warning",
    ),
    Case(
        "no initializer is an input at IR 3",
        LISTED_10,
        changed(LISTED_10, no_input("s"), no_input("z")),
        "QDQ151",
        "2 initializers, first 's', are no graph inputs, which ir_version 3 asks for",
        "warning",
    ),
    # 152
    Case(
        "the dequantize before the quantize",
        PAIR,
        changed(PAIR, order(1, 0)),
        "QDQ152",
        "1 node stands before one whose result is read there, first y",
        "warning",
    ),
    Case(
        "everything the other way round",
        CHAIN,
        changed(CHAIN, order(3, 2, 1, 0)),
        "QDQ152",
        "3 nodes stand before one whose result is read there, first y",
        "warning",
    ),
    Case(
        "a branch before what it reads",
        BRANCH,
        changed(BRANCH, order(1, 0)),
        "QDQ152",
        "1 node stands before one whose result is read there, first y",
        "warning",
    ),
    # 153
    Case(
        "two results of one name",
        CHAIN,
        changed(CHAIN, results("r", "d"), operands("y", "d")),
        "QDQ153",
        "value 'd' is defined 2 times",
        also=("QDQ155",),
    ),
    Case(
        "a result called like an initializer",
        PAIR,
        changed(PAIR, constant(q=zeros(t.INT8, 4, 6))),
        "QDQ153",
        "value 'q' is defined 2 times",
    ),
    Case(
        "an initializer twice",
        PAIR,
        changed(PAIR, lambda m: m.graph.initializer.append(tensor(m, "s"))),
        "QDQ153",
        "value 's' is defined 2 times",
    ),
    Case(
        "a result called like an input",
        CHAIN,
        changed(CHAIN, inserted(0, "Abs", ["x"], ["x"])),
        "QDQ153",
        "value 'x' is defined 2 times",
        also=("QDQ155",),
    ),
    # 154
    Case(
        "a scale that is not there",
        PAIR,
        changed(PAIR, operands("y", "q", "t", "z")),
        "QDQ154",
        "the node reads 't', which nothing defines",
    ),
    Case("an initializer taken away", BLOCKS, changed(BLOCKS, constant(c=None)), "QDQ154", "the node reads 'c', which nothing defines"),
    Case("an output that nothing gives", CHAIN, changed(CHAIN, results("y", "w")), "QDQ154", "output 'y' is defined by nothing"),
    Case(
        "a branch that reads nothing",
        BRANCH,
        changed(BRANCH, operands("a", "p", "s", "z")),
        "QDQ154",
        "the node reads 'p', which nothing defines",
    ),
    # 155
    Case("a node that reads itself", CHAIN, changed(CHAIN, operands("r", "r")), "QDQ155", "nodes wait for each other: r, y"),
    Case("two nodes in a ring", CHAIN, changed(CHAIN, operands("d", "r", "s", "z")), "QDQ155", "nodes wait for each other: d, r, y"),
    Case("a scale from its own result", PAIR, changed(PAIR, operands("y", "q", "y", "z")), "QDQ155", "nodes wait for each other: y"),
    # 156
    Case(
        "a function that calls itself",
        FUNCTION,
        changed(FUNCTION, calling("own", "FakeQuantize")),
        "QDQ156",
        "functions call themselves or each other: FakeQuantize",
    ),
    Case(
        "two functions that call each other",
        FUNCTION,
        changed(FUNCTION, second),
        "QDQ156",
        "functions call themselves or each other: FakeQuantize, Other",
    ),
    Case(
        "a function that calls itself in a branch",
        FUNCTION,
        changed(FUNCTION, nested),
        "QDQ156",
        "functions call themselves or each other: FakeQuantize",
    ),
    # 157
    Case(
        "a zero point of no bytes",
        PAIR,
        changed(PAIR, raw("z", b"")),
        "QDQ157",
        "tensor 'z' holds 0 bytes; its type and shape [] ask for 1 bytes",
    ),
    Case(
        "int4 stored as one byte each",
        BLOCKS,
        changed(BLOCKS, raw("c", bytes(24))),
        "QDQ157",
        "tensor 'c' holds 24 bytes; its type and shape [4, 6] ask for 12 bytes",
    ),
    Case(
        "a type changed without its data",
        PAIR,
        changed(PAIR, data_type("z", t.INT16.code)),
        "QDQ157",
        "tensor 'z' holds 1 bytes; its type and shape [] ask for 2 bytes",
    ),
    Case(
        "too few numbers in int32_data",
        FLOAT8,
        changed(FLOAT8, typed_field("c", 6)),
        "QDQ157",
        "tensor 'c' holds 6 numbers; its type and shape [4, 6] ask for 24 numbers",
    ),
    # 158
    Case("a negative dimension", BLOCKS, changed(BLOCKS, dims("c", -4, 6)), "QDQ158", "tensor 'c' has the shape [-4, 6]"),
    Case("an undefined element type", PAIR, changed(PAIR, data_type("z", 0)), "QDQ158", "tensor 'z' has the unknown element type 0"),
    Case(
        "an element type that does not exist",
        PAIR,
        changed(PAIR, data_type("s", 77)),
        "QDQ158",
        "tensor 's' has the unknown element type 77",
    ),
    # 159
    Case("a pair without outputs", PAIR, changed(PAIR, no_outputs), "QDQ159", "the graph has no outputs"),
    Case("a chain without outputs", CHAIN, changed(CHAIN, no_outputs), "QDQ159", "the graph has no outputs"),
    Case("a branch without outputs", BRANCH, changed(BRANCH, no_outputs), "QDQ159", "the graph has no outputs"),
    # 166
    Case(
        "a graph compiled for QNN", PAIR, changed(PAIR, compiled("QNN")), "QDQ166", "the node holds a graph compiled for one device (QNN)"
    ),
    Case(
        "a graph compiled for OpenVINO",
        CHAIN,
        changed(CHAIN, compiled("OpenVINO")),
        "QDQ166",
        "the node holds a graph compiled for one device (OpenVINO)",
    ),
    Case(
        "a graph compiled for nobody",
        MICROSOFT,
        changed(MICROSOFT, compiled("")),
        "QDQ166",
        "the node holds a graph compiled for one device",
    ),
    # 167
    Case(
        "an operator that is no text",
        PAIR,
        garbled(PAIR, b"DequantizeLinear", b"Deq\x93antizeLinear"),
        "QDQ167",
        "operator or domain is no text: b'Deq\\x93antizeLinear', ''",
    ),
    Case(
        "an operator that ends too early",
        CHAIN,
        garbled(CHAIN, b"Relu", b"Rel\xf2"),
        "QDQ167",
        "operator or domain is no text: b'Rel\\xf2', ''",
    ),
    Case(
        "a domain that is no text",
        MICROSOFT,
        garbled(MICROSOFT, b"com.microsoft", b"com.\xfficrosoft"),
        "QDQ167",
        "operator or domain is no text: 'QuantizeLinear', b'com.\\xfficrosoft'",
        also=("QDQ103",),
    ),
)
