"""Draw the README's picture, report.svg beside this file: `python docs/images/draw_report.py LOGDIR`."""

import io
import re
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from rlscope_jax import load
from rlscope_jax.reporters.terminal import WIDTH, render

# rich's frame names fonts by address; the picture must fetch nothing.
FRAME = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace("Fira Code, ", "")

console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False, force_terminal=True)
render(load(sys.argv[1]), console)
console.save_svg(
    str(Path(__file__).with_name("report.svg")),
    title="rlscope-jax report",
    code_format=FRAME.replace("<!-- Generated with Rich https://www.textualize.io -->", ""),
)
