"""A process that publishes one model over itself until it is killed: ``publishing FOLDER``, or ``publishing FOLDER STEP``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np

from qdqtool import dtypes
from qdqtool.kernels.sources import ArraySource
from qdqtool.model import load, tensors
from qdqtool.model.stage import stage
from tests.model.models import adding

SIZE = 20_000


def publish(folder: Path, value: int) -> None:
    """Three constants of one value: two in a data file, one in the protobuf."""
    proto = adding(*(tensors.header(name, dtypes.FLOAT, (size,)) for name, size in (("a", SIZE), ("b", SIZE), ("c", 4))), shape=[4])
    pending = {t.name: ArraySource(np.full(tuple(t.dims), value, np.float32)) for t in proto.graph.initializer}
    stage(proto, pending, loaded=load.load(proto), out=folder / "m.onnx", external_data="m.data", overwrite=True).publish()


def die_at(step: int) -> None:
    """End this process right before its next rename, removal or flush number `step`."""
    done = count()

    def dying(real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            if next(done) == step:
                os._exit(9)
            return real(*arguments, **options)

        return call

    for name in ("replace", "fsync", "unlink", "rmdir", "mkdir"):
        setattr(os, name, dying(getattr(os, name)))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    publish(target, 0)
    if len(sys.argv) > 2:
        die_at(int(sys.argv[2]))
        publish(target, 1)
        sys.exit()
    print("ready", flush=True)
    for number in count(1):
        publish(target, number)
