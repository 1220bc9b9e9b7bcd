"""The evaluator's block-quantized operators against ONNX Runtime's, in every layout of the dialects' tests."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from qdqtool.check.evaluator import Evaluator
from tests.dialects.layouts import Layout, drawn, model, run
from tests.dialects.test_gather_block_quantized import TABLES, Table
from tests.dialects.test_gather_block_quantized import drawn as drawn_table
from tests.dialects.test_matmul_nbits import TABLE


@pytest.mark.parametrize("layout", [*TABLE, Layout(zero="packed", half=True, bias=True)], ids=str)
def test_products(layout: Layout) -> None:
    proto = model(layout, drawn(layout))
    feeds = {"A": np.random.default_rng(1).normal(size=(3, layout.k)).astype(layout.real)}
    got, expected = Evaluator(proto).run(feeds, ["y0"])["y0"], run(proto, feeds)["y0"]
    assert isinstance(got, np.ndarray)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    share = 2.0**-8 if layout.half else 2.0**-19
    assert np.abs(got.astype(np.float64) - expected).max() <= share * np.abs(expected.astype(np.float64)).max()


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_tables(table: Table) -> None:
    proto, feeds = drawn_table(table)
    assert np.array_equal(Evaluator(proto).run(feeds, ["y"])["y"], run(proto, feeds)["y"])  # type: ignore[arg-type]


def test_an_index_out_of_range_gives_zeros() -> None:
    proto, _ = drawn_table(Table("int4"))
    proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("indices", 7, (2, 1)))
    feeds = {"indices": np.array([[20], [-21]], np.int64)}
    got = Evaluator(proto).run(feeds, ["y"])["y"]
    assert isinstance(got, np.ndarray)
    assert not got.any()
    assert np.array_equal(got, run(proto, feeds)["y"])
