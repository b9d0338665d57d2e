"""How the questions grow with the trail, as a picture: ``python -m benchmarks.speed.plotted RESULT.json FILE.svg``.

Both axes are logarithmic. A full line is as of now, a dashed one as of a point in the past.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, MARGIN = 640, 360, 56
COLOURS = {"count": "#4477aa", "page": "#228833", "recall": "#cc3311", "why": "#aa3377"}
MOST_MS, LEAST_MS = 1000.0, 0.1


def svg(result: dict[str, Any]) -> str:
    """The picture of one result of ``at_size``: medians in milliseconds."""
    sizes = [each["claims"] for each in result["sizes"]]
    low, high = math.log10(min(sizes)), math.log10(max(sizes))

    def place(claims: int, milliseconds: float) -> str:
        across = MARGIN + (WIDTH - 2 * MARGIN) * (math.log10(claims) - low) / ((high - low) or 1)
        share = math.log10(min(max(milliseconds, LEAST_MS), MOST_MS) / LEAST_MS) / math.log10(MOST_MS / LEAST_MS)
        return f"{across:.1f},{HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * share:.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(-1, 4):
        y = place(sizes[0], 10.0**power).split(",")[1]
        lines.append(f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y}" y2="{y}" stroke="#dddddd"/>')
        lines.append(f'<text x="{MARGIN - 6}" y="{y}" text-anchor="end">{10.0**power:g} ms</text>')
    for claims in sizes:
        x = place(claims, LEAST_MS).split(",")[0]
        lines.append(f'<text x="{x}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{claims:,} claims</text>')
    for n, (name, colour) in enumerate(COLOURS.items()):
        for when, dash in (("now again", ""), ("past", ' stroke-dasharray="6 4"')):
            points = " ".join(place(each["claims"], each[when][name]["p50"]) for each in result["sizes"])
            lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        lines.append(f'<text x="{MARGIN + 90 * n}" y="{MARGIN - 24}" fill="{colour}">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(svg(json.loads(Path(sys.argv[1]).read_text("utf-8"))), "utf-8")
