"""Sketches for a matrix product, with bias and relu if wanted: dense layers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from rlscope_jax.tune.backends.halide.kernel import LANES, Pipeline, image_param, load_halide
from rlscope_jax.tune.source import source_of
from rlscope_jax.tune.space import Param, Sketch, Values


@dataclass(frozen=True)
class Matmul:
    """The shape of the problem: [rows, inner] times [inner, columns], float32.

    Args:
        bias_relu: add a bias [columns] (a third argument) and take the positive part.
    """

    rows: int
    inner: int
    columns: int
    bias_relu: bool = False

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the arguments."""
        matrices = (self.rows, self.inner), (self.inner, self.columns)
        return (*matrices, (self.columns,)) if self.bias_relu else matrices


def sketches(matmul: Matmul) -> dict[str, Sketch]:
    """Four structures with seven or eight open parameters each.

    registers: a tile of the result stays in registers while all of its sum is taken.
    packed_right: the same, reading the right matrix from panels as wide as the tile.
    blocked_sum: the sum is taken in blocks; the tiles between two blocks lie in the cache.
    dot: vectors run along the sum, not along the columns.
    """
    vectors = Param("vectors", (1, 2, 4, 8), "tile")
    rows = Param("rows", (1, 2, 3, 4, 6, 8, 12), "tile")
    row_block = Param("row_block", (1, 2, 4, 8, 16, 32), "tile")
    column_block = Param("column_block", (1, 2, 4, 8), "tile")
    unroll = Param("unroll", (1, 2, 4, 8), "unroll")
    order = Param("order", ("columns", "rows"), "choice")
    parallel = Param("parallel", ("none", "rows", "columns", "both"), "par")
    common = (vectors, rows, row_block, column_block, unroll, order, parallel)
    found = {
        "registers": common,
        "packed_right": (*common, Param("pack", ("root", "block"), "loc")),
        "blocked_sum": (*common, Param("sum_block", (16, 32, 64, 128, 256), "tile")),
        "dot": (
            Param("rows", (1, 2, 4), "tile"),
            Param("columns", (1, 2, 4), "tile"),
            row_block,
            column_block,
            Param("unroll", (1, 2, 4), "unroll"),
            order,
            parallel,
            Param("transpose", ("root", "block"), "loc"),
        ),
    }
    return {
        name: Sketch(
            params,
            build=partial(_build, matmul, name),
            valid=partial(_valid, matmul, name),
            export=partial(_export, matmul, name),
        )
        for name, params in found.items()
    }


def pipeline(matmul: Matmul, sketch: str, values: Values) -> Pipeline:
    """The product, scheduled."""
    hl = load_halide()
    inputs = [
        image_param(name, shape)
        for name, shape in zip(("left", "right", "bias"), matmul.shapes, strict=False)
    ]
    left, right = inputs[:2]
    j, i = hl.Var("j"), hl.Var("i")
    k = hl.RDom([(0, matmul.inner)], "k")
    tile_rows, tile_columns = _tile(sketch, values)

    source: Any = right
    a, b, c = hl.Var("a"), hl.Var("b"), hl.Var("c")
    if sketch == "packed_right":
        source = hl.Func("packed")
        source[a, b, c] = right[c * tile_columns + a, b]
    elif sketch == "dot":
        source = hl.Func("transposed")
        source[a, b] = right[b, a]

    total, result = hl.Func("total"), hl.Func("result")
    total[j, i] = 0.0
    if sketch == "packed_right":
        total[j, i] += left[k, i] * source[j % tile_columns, k, j / tile_columns]
    elif sketch == "dot":
        total[j, i] += left[k, i] * source[k, j]
    else:
        total[j, i] += left[k, i] * source[j, k]
    if matmul.bias_relu:
        result[j, i] = hl.max(total[j, i] + inputs[2][j], 0.0)
    else:
        result[j, i] = total[j, i]

    # result: blocks of tiles of elements
    jo, jt, ji, io, it, ii = (hl.Var(name) for name in ("jo", "jt", "ji", "io", "it", "ii"))
    inward = hl.TailStrategy.ShiftInwards
    result.split(j, jo, jt, tile_columns * values["column_block"]).split(jt, jt, ji, tile_columns)
    result.split(i, io, it, tile_rows * values["row_block"], inward).split(it, it, ii, tile_rows, inward)
    blocks = (jo, io) if values["order"] == "columns" else (io, jo)
    result.reorder(ji, ii, jt, it, *blocks)
    update = total.update()

    if sketch == "blocked_sum":
        ko, ki = hl.RVar("ko"), hl.RVar("ki")
        xo, xi, yo, yi = (hl.Var(name) for name in ("xo", "xi", "yo", "yi"))
        guard = hl.TailStrategy.GuardWithIf
        result.vectorize(ji, LANES)
        total.compute_at(result, blocks[0]).vectorize(j, LANES)
        update.split(k.x, ko, ki, values["sum_block"])
        update.split(j, xo, xi, tile_columns).split(i, yo, yi, tile_rows, guard)
        update.reorder(xi, yi, ki, xo, yo, ko).vectorize(xi, LANES).unroll(xi).unroll(yi)
        if values["unroll"] > 1:
            update.unroll(ki, values["unroll"])
    elif sketch == "dot":
        ko, ki, lane = hl.RVar("ko"), hl.RVar("ki"), hl.Var("lane")
        result.unroll(ji).unroll(ii)
        update.split(k.x, ko, ki, LANES)
        partial_sums = update.rfactor(ki, lane)
        total.compute_at(result, jt).unroll(j).unroll(i)
        total.update().unroll(j).unroll(i).atomic().vectorize(ki)
        partial_sums.compute_at(result, jt).vectorize(lane).unroll(j).unroll(i)
        partial_sums.update().reorder(lane, j, i, ko).vectorize(lane).unroll(j).unroll(i)
        if values["unroll"] > 1:
            partial_sums.update().unroll(ko, values["unroll"])
        _place(source, result, values["transpose"], blocks[0])
    else:
        result.vectorize(ji, LANES).unroll(ji).unroll(ii)
        total.compute_at(result, jt).vectorize(j, LANES).unroll(j).unroll(i)
        update.reorder(j, i, k.x).vectorize(j, LANES).unroll(j).unroll(i)
        if values["unroll"] > 1:
            update.unroll(k.x, values["unroll"])
        if sketch == "packed_right":
            _place(source, result, values["pack"], blocks[0])
            source.vectorize(a, LANES)

    if values["parallel"] == "both":
        both = hl.Var("both")
        result.fuse(*blocks, both).parallel(both)
    elif values["parallel"] != "none":
        result.parallel(io if values["parallel"] == "rows" else jo)
    return Pipeline(inputs, matmul.shapes, result, (matmul.rows, matmul.columns))


def _place(stage: Any, result: Any, where: str, block: Any) -> None:
    if where == "root":
        stage.compute_root()
    else:
        stage.compute_at(result, block)


def _tile(sketch: str, values: Values) -> tuple[int, int]:
    """Rows and columns of the tile that is computed at once."""
    return values["rows"], values["columns"] if sketch == "dot" else LANES * values["vectors"]


def _valid(matmul: Matmul, sketch: str, values: Values) -> bool:
    rows, columns = _tile(sketch, values)
    if matmul.columns % (columns * values["column_block"]) or rows * values["row_block"] > matmul.rows:
        return False
    registers = rows * (columns if sketch == "dot" else values["vectors"])
    if registers > 24 or registers * values["unroll"] > 96:  # code of that size takes seconds to compile
        return False
    if values["parallel"] == "both" and (
        sketch == "blocked_sum" or "block" in (values.get("pack"), values.get("transpose"))
    ):
        return False  # what is computed per block needs the loop that "both" fuses away
    summed = matmul.inner // LANES if sketch == "dot" else values.get("sum_block", matmul.inner)
    return summed % values["unroll"] == 0 and matmul.inner % values.get("sum_block", LANES) == 0


def _build(matmul: Matmul, sketch: str, values: Values) -> Any:
    return pipeline(matmul, sketch, values).jit()


def _export(matmul: Matmul, sketch: str, values: Values) -> Any:
    from rlscope_jax.tune.backends.halide.ffi import export

    identity = f"{matmul!r} {sketch} {sorted(values.items())}\n{source_of(pipeline)}"
    return export(partial(pipeline, matmul, sketch, values), identity)
