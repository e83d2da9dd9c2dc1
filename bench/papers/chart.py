"""Line charts as SVG text, several panels in a row or a grid, with logarithmic or linear axes."""

import dataclasses
import math

COLOURS = ["#c0392b", "#2980b9", "#27ae60", "#8e44ad", "#d68910", "#555555"]
WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 110, 34, 46


@dataclasses.dataclass
class Panel:
    """One diagram: curves are named lists of points, levels are horizontal lines with a name."""

    title: str
    across: str
    up: str
    curves: dict
    levels: dict = dataclasses.field(default_factory=dict)
    logarithmic: bool = True
    up_logarithmic: bool = False


def drawing(panels, columns=2):
    """All panels as one SVG file."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    out = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {columns * WIDTH} {rows * HEIGHT}' font-family='sans-serif' font-size='11'>",
        "<rect width='100%' height='100%' fill='white'/>",
    ]
    for i, panel in enumerate(panels):
        out.append(f"<g transform='translate({i % columns * WIDTH} {i // columns * HEIGHT})'>")
        out += _panel(panel)
        out.append("</g>")
    return "\n".join([*out, "</svg>", ""])


def _panel(panel):
    points = [point for curve in panel.curves.values() for point in curve]
    title = f"<text x='{LEFT}' y='18' font-weight='bold'>{panel.title}</text>"
    if not points:
        return [title]
    place = math.log10 if panel.logarithmic else float
    low, high = place(min(x for x, _ in points)), place(max(x for x, _ in points))
    lines = _powers if panel.up_logarithmic else _steps
    marks = lines([y for _, y in points] + list(panel.levels.values()))
    climb = math.log10 if panel.up_logarithmic else float
    bottom, top = climb(marks[0]), climb(marks[-1])
    x = lambda value: LEFT + (place(value) - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)
    y = lambda value: HEIGHT - BOTTOM - (climb(value) - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)
    out = [title, *_grid(panel, points, x, y, marks)]
    for (name, value), colour in zip(panel.levels.items(), reversed(COLOURS)):
        out.append(f"<line x1='{LEFT}' y1='{y(value):.1f}' x2='{WIDTH - RIGHT}' y2='{y(value):.1f}' stroke='{colour}' stroke-dasharray='6 4'/>")
    for (name, curve), colour in zip(panel.curves.items(), COLOURS):
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
        out.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
    return out + _legend(panel)


def _legend(panel):
    """Names beside the diagram, so that they never lie on each other."""
    named = list(zip(panel.curves, COLOURS)) + list(zip(panel.levels, reversed(COLOURS)))
    return [f"<text x='{WIDTH - RIGHT + 8}' y='{TOP + 12 + 16 * i}' fill='{colour}'>{name}</text>" for i, (name, colour) in enumerate(named)]


def _grid(panel, points, x, y, marks):
    out = []
    for mark in marks:
        height = y(mark)
        out.append(f"<line x1='{LEFT}' y1='{height:.1f}' x2='{WIDTH - RIGHT}' y2='{height:.1f}' stroke='#ddd'/>")
        out.append(f"<text x='{LEFT - 6}' y='{height + 4:.1f}' text-anchor='end'>{_short(mark)}</text>")
    values = sorted({a for a, _ in points})
    shown = None
    for value in values:
        if shown is not None and x(value) - shown < 34:
            continue
        shown = x(value)
        out.append(f"<line x1='{shown:.1f}' y1='{TOP}' x2='{shown:.1f}' y2='{HEIGHT - BOTTOM}' stroke='#eee'/>")
        out.append(f"<text x='{shown:.1f}' y='{HEIGHT - BOTTOM + 15}' text-anchor='middle'>{value:,}</text>")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f"<text x='{(LEFT + WIDTH - RIGHT) / 2:.0f}' y='{HEIGHT - 10}' text-anchor='middle'>{panel.across}</text>")
    out.append(f"<text x='14' y='{middle:.0f}' transform='rotate(-90 14 {middle:.0f})' text-anchor='middle'>{panel.up}</text>")
    return out


def _short(value):
    """A number that fits beside the axis."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= unit:
            return f"{value / (1e3 if name == 'k' else unit):g}{name}"
    return f"{value:g}"


def _steps(values):
    """Where the horizontal lines are, from 0 to above the highest value: four to eight round steps."""
    highest = max(values)
    power = 10 ** math.floor(math.log10(highest or 1))
    step = next((power * f for f in (0.1, 0.2, 0.25, 0.5, 1, 2) if highest / (power * f) <= 6), power * 2)
    return [k * step for k in range(math.ceil(highest / step * 1.02) + 1)]


def _powers(values):
    """The same for a logarithmic axis: powers of ten."""
    low = math.floor(math.log10(min(values)))
    return [10**e for e in range(low, max(low + 1, math.ceil(math.log10(max(values)))) + 1)]
