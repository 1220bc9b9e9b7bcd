"""Constants whose data lies in files beside the model."""

from __future__ import annotations

from onnx import ModelProto, TensorProto

from tests.rules.case import Case, Edit, changed, scales, tensor
from tests.rules.specification.cases_files import BLOCKS

DATA = bytes(range(12)) + scales(4, 2).tobytes()


def outside(name: str, location: str = "w.bin", offset: object = None, length: object = None) -> Edit:
    def edit(proto: ModelProto) -> None:
        found = tensor(proto, name)
        found.ClearField("raw_data")
        del found.external_data[:]
        found.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", offset), ("length", length)):
            if value is not None:
                found.external_data.add(key=key, value=str(value))

    return edit


STORED = changed(BLOCKS, outside("c", offset=0, length=12), outside("s", offset=12, length=32))
SPLIT = changed(BLOCKS, outside("c", "c.bin"), outside("s", "s.bin"))
NESTED = changed(BLOCKS, outside("c", "data/c.bin"), outside("s", "data/s.bin"))
ONE = {"w.bin": DATA}
TWO = {"c.bin": DATA[:12], "s.bin": DATA[12:]}
BELOW = {"data/c.bin": DATA[:12], "data/s.bin": DATA[12:]}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 44\n"

CASES = (
    # 160
    Case(
        "the data file left behind",
        STORED,
        STORED,
        "QDQ160",
        "tensor 's' has its data in a file that is not there ('w.bin', which holds 2 tensors)",
        files=ONE,
        bad_files={"w.bin": None},
    ),
    Case(
        "one of two data files left behind",
        SPLIT,
        SPLIT,
        "QDQ160",
        "tensor 's' has its data in a file that is not there ('s.bin')",
        files=TWO,
        bad_files={"s.bin": None},
    ),
    Case(
        "a data file under another name",
        NESTED,
        changed(NESTED, outside("c", "data/codes.bin")),
        "QDQ160",
        "tensor 'c' has its data in a file that is not there ('data/codes.bin')",
        files=BELOW,
    ),
    # 161
    Case(
        "the data file cut off",
        STORED,
        STORED,
        "QDQ161",
        "tensor 's' has its data in a file that is too short; bytes 12 to 44 are needed, the file has 40 ('w.bin', which holds 2 tensors)",
        files=ONE,
        bad_files={"w.bin": DATA[:40]},
    ),
    Case(
        "an offset behind the end",
        STORED,
        changed(STORED, outside("s", offset=20, length=32)),
        "QDQ161",
        "tensor 's' has its data in a file that is too short; bytes 20 to 52 are needed, the file has 44 ('w.bin', which holds 2 tensors)",
        files=ONE,
    ),
    Case(
        "the data file empty",
        SPLIT,
        SPLIT,
        "QDQ161",
        "tensor 'c' has its data in a file that is too short; bytes 0 to 12 are needed, the file has 0 ('c.bin')",
        files=TWO,
        bad_files={"c.bin": b""},
    ),
    # 162
    Case(
        "scales that begin in the codes",
        STORED,
        changed(STORED, outside("s", offset=8, length=32)),
        "QDQ162",
        "tensors 'c' (bytes 0 to 12) and 's' (8 to 40) of 'w.bin' overlap",
        "warning",
        files=ONE,
    ),
    Case(
        "codes that end in the scales",
        STORED,
        changed(STORED, outside("c", offset=4, length=12)),
        "QDQ162",
        "tensors 'c' (bytes 4 to 16) and 's' (12 to 44) of 'w.bin' overlap",
        "warning",
        files=ONE,
    ),
    Case(
        "no offset",
        STORED,
        changed(STORED, outside("s")),
        "QDQ162",
        "tensors 'c' (bytes 0 to 12) and 's' (0 to 32) of 'w.bin' overlap",
        "warning",
        files=ONE,
    ),
    # 163
    Case(
        "a pointer in place of the data",
        STORED,
        STORED,
        "QDQ163",
        "tensor 's' has its data in a file that is only a git-lfs pointer ('w.bin', which holds 2 tensors)",
        files=ONE,
        bad_files={"w.bin": POINTER},
    ),
    Case(
        "one of two is a pointer",
        SPLIT,
        SPLIT,
        "QDQ163",
        "tensor 's' has its data in a file that is only a git-lfs pointer ('s.bin')",
        files=TWO,
        bad_files={"s.bin": POINTER},
    ),
    Case(
        "a pointer below a folder",
        NESTED,
        NESTED,
        "QDQ163",
        "tensor 'c' has its data in a file that is only a git-lfs pointer ('data/c.bin')",
        files=BELOW,
        bad_files={"data/c.bin": POINTER},
    ),
    # 164
    Case(
        "data above the folder",
        STORED,
        changed(STORED, outside("c", "../w.bin", 0, 12)),
        "QDQ164",
        "the external data of tensor 'c' has a location outside the model's folder",
        files=ONE,
    ),
    Case(
        "data at an absolute path",
        STORED,
        changed(STORED, outside("s", "/w.bin", 12, 32)),
        "QDQ164",
        "the external data of tensor 's' has an absolute location",
        files=ONE,
    ),
    Case(
        "data at no path", SPLIT, changed(SPLIT, outside("c", "")), "QDQ164", "the external data of tensor 'c' has no location", files=TWO
    ),
    # 165
    Case(
        "a length of another type",
        STORED,
        changed(STORED, outside("c", offset=0, length=24)),
        "QDQ165",
        "tensor 'c' has external data of the wrong length; its type and shape [4, 6] ask for 12 bytes, the model says that 24 are stored",
        files=ONE,
    ),
    Case(
        "a negative offset",
        STORED,
        changed(STORED, outside("s", offset=-4, length=32)),
        "QDQ165",
        "tensor 's' has offset '-4', which is no byte count",
        files=ONE,
    ),
    Case(
        "an offset in words",
        SPLIT,
        changed(SPLIT, outside("s", "s.bin", offset="0x0")),
        "QDQ165",
        "tensor 's' has offset '0x0', which is no byte count",
        files=TWO,
    ),
)
