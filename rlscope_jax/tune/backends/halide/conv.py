"""Sketches for a convolution without padding, NHWC by HWIO, with relu: what a Nature-CNN is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from rlscope_jax.tune.backends.halide.kernel import LANES, Pipeline, image_param, load_halide
from rlscope_jax.tune.source import source_of
from rlscope_jax.tune.space import Param, Sketch, Values


@dataclass(frozen=True)
class Conv:
    """The shape of the problem: square images and kernels.

    Args:
        batch, size, channels: of the input, [batch, size, size, channels].
        kernel, filters: of the weights, [kernel, kernel, channels, filters].
        stride: in both directions.
    """

    batch: int
    size: int
    channels: int
    kernel: int
    filters: int
    stride: int

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of the images and of the weights."""
        image = (self.batch, self.size, self.size, self.channels)
        return image, (self.kernel, self.kernel, self.channels, self.filters)

    @property
    def side(self) -> int:
        """Height and width of the result."""
        return (self.size - self.kernel) // self.stride + 1


def sketches(conv: Conv) -> dict[str, Sketch]:
    """Four structures with seven or eight open parameters each.

    registers: a tile of the result stays in registers while all of its sum is taken.
    packed_weights: the same, reading a copy of the weights in the order in which they are read.
    staged_input: the same, reading a copy of the piece of the input that a line or an image needs.
    lines: a whole line of the result is accumulated in memory.
    """
    vectors = Param("vectors", _divisors(conv.filters // LANES), "tile")
    rows = Param("rows", tuple(n for n in (1, 2, 3, 4, 5, 6, 7, 8, 10) if n <= conv.side), "tile")
    lines = Param("lines", tuple(n for n in (1, 2, 3, 4, 5, 10) if n <= conv.side), "tile")
    unroll = Param("unroll", tuple(n for n in (1, 2, 4, 8, 16) if conv.channels % n == 0), "unroll")
    order = Param("order", ("cxy", "xcy", "cyx", "xyc"), "choice")
    inner = Param("inner", ("filters", "columns"), "choice")
    parallel = Param("parallel", ("none", "lines", "images", "both"), "par")
    common = (vectors, rows, lines, unroll, order, inner, parallel)
    found = {
        "registers": common,
        "packed_weights": (*common, Param("pack", ("root", "image", "line"), "loc")),
        "staged_input": (*common, Param("stage", ("image", "line", "tile"), "loc")),
        "lines": (
            Param("vectors", _divisors(conv.filters // LANES), "tile"),
            Param("rows", (1, 2, 4), "tile"),
            lines,
            unroll,
            order,
            parallel,
            Param("accumulate", ("image", "line"), "loc"),
        ),
    }
    valid = partial(_valid, conv)
    return {
        name: Sketch(
            params,
            build=partial(_build, conv, name),
            valid=valid,
            export=partial(_export, conv, name),
        )
        for name, params in found.items()
    }


def pipeline(conv: Conv, sketch: str, values: Values) -> Pipeline:
    """The convolution, scheduled."""
    hl = load_halide()
    shape = (conv.batch, conv.side, conv.side, conv.filters)
    image, weights = image_param("image", conv.shapes[0]), image_param("weights", conv.shapes[1])
    o, x, y, b = (hl.Var(name) for name in "oxyb")
    r = hl.RDom([(0, conv.channels), (0, conv.kernel), (0, conv.kernel)], "r")
    c, kx, ky = r[0], r[1], r[2]

    source: Any = image
    if sketch == "staged_input":
        source = hl.Func("staged")
        i, u, v, w = (hl.Var(name) for name in "iuvw")
        source[i, u, v, w] = image[i, u, v, w]
    filters: Any = weights
    if sketch == "packed_weights":  # [tile][ky][kx][c][filter in the tile]: read straight through
        width = LANES * values["vectors"]
        filters = hl.Func("packed")
        f, g, i, u, v = (hl.Var(name) for name in "fgiuv")
        filters[f, i, u, v, g] = weights[g * width + f, i, u, v]

    total, result = hl.Func("total"), hl.Func("result")
    total[o, x, y, b] = 0.0
    taken = source[c, x * conv.stride + kx, y * conv.stride + ky, b]
    if sketch == "packed_weights":
        total[o, x, y, b] += taken * filters[o % width, c, kx, ky, o / width]
    else:
        total[o, x, y, b] += taken * filters[o, c, kx, ky]
    result[o, x, y, b] = hl.max(total[o, x, y, b], 0.0)

    order = {"c": c, "x": kx, "y": ky}
    reduction = [order[letter] for letter in values["order"]]
    yo, yi = hl.Var("yo"), hl.Var("yi")
    inward = hl.TailStrategy.ShiftInwards
    result.split(y, yo, yi, values["lines"], inward)
    update = total.update()

    if sketch == "lines":
        width = LANES * values["vectors"]
        result.vectorize(o, LANES)
        total.compute_at(result, yi if values["accumulate"] == "line" else yo)
        total.vectorize(o, LANES)
        oo, oi, xo, xi = (hl.Var(name) for name in ("oo", "oi", "xo", "xi"))
        update.split(o, oo, oi, width).split(x, xo, xi, values["rows"], hl.TailStrategy.GuardWithIf)
        update.reorder(oi, xi, oo, xo, *reduction, y, b).vectorize(oi, LANES).unroll(oi).unroll(xi)
        if values["unroll"] > 1:
            update.unroll(c, values["unroll"])
        _parallel(result, values["parallel"], yo, b)
        return Pipeline((image, weights), conv.shapes, result, shape)

    oo, oi, xo, xi = (hl.Var(name) for name in ("oo", "oi", "xo", "xi"))
    result.split(o, oo, oi, LANES * values["vectors"]).split(x, xo, xi, values["rows"], inward)
    first, second = (oo, xo) if values["inner"] == "filters" else (xo, oo)
    result.reorder(oi, xi, first, second, yi, yo, b).vectorize(oi, LANES).unroll(oi).unroll(xi)
    total.compute_at(result, first).vectorize(o, LANES).unroll(o).unroll(x)
    update.reorder(o, x, *reduction).vectorize(o, LANES).unroll(o).unroll(x)
    if values["unroll"] > 1:
        update.unroll(c, values["unroll"])
    if sketch == "packed_weights":
        at = {"image": b, "line": yi}.get(values["pack"])
        if at is None:
            filters.compute_root()
        else:
            filters.compute_at(result, at)
        filters.vectorize(f, LANES)
    elif sketch == "staged_input":
        at = {"image": b, "line": yi, "tile": second}[values["stage"]]
        source.compute_at(result, at)
        if conv.channels % LANES == 0:
            source.vectorize(i, LANES)
        else:
            source.vectorize(i, conv.channels)
    _parallel(result, values["parallel"], yo, b)
    return Pipeline((image, weights), conv.shapes, result, shape)


def _parallel(result: Any, what: str, lines: Any, images: Any) -> None:
    if what == "lines":
        result.parallel(lines)
    elif what == "images":
        result.parallel(images)
    elif what == "both":
        both = load_halide().Var("both")
        result.fuse(lines, images, both).parallel(both)


def _valid(conv: Conv, values: Values) -> bool:
    registers = values["vectors"] * values["rows"]
    if registers > 24 or values["rows"] > conv.side or values["lines"] > conv.side:
        return False
    if conv.channels % values["unroll"] or registers * values["unroll"] > 64:
        return False  # code that size takes seconds to compile
    # What is computed per image needs the loop over images, which "both" fuses away.
    places = (values.get("pack"), values.get("stage"), values.get("accumulate"))
    return not (values["parallel"] == "both" and "image" in places)


def _build(conv: Conv, sketch: str, values: Values) -> Any:
    return pipeline(conv, sketch, values).jit()


def _export(conv: Conv, sketch: str, values: Values) -> Any:
    from rlscope_jax.tune.backends.halide.ffi import export

    identity = f"{conv!r} {sketch} {sorted(values.items())}\n{source_of(pipeline)}"
    return export(partial(pipeline, conv, sketch, values), identity)


def _divisors(number: int) -> tuple[int, ...]:
    return tuple(n for n in range(1, number + 1) if number % n == 0)
