"""Canvas for SVG: escaped text, few digits, colours that follow the reader's light or dark colour scheme.

No script, no link, no web font: the picture is evidence and opens anywhere as one file. Colours are classes, because
only a style sheet can query the colour scheme; the background is painted, because a report may have its own scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from muster.report.sanitize import one_line

WIDTH = 1000
FONT_SIZE = 11
LETTER = 6.3  # pixels that a letter takes, on average
_FEWEST_LETTERS = 4  # of a text that is cut

_LIGHT = ("#9ecbff", "#ffcf8a", "#a5dfa0", "#f4b1cc", "#c8b6f1", "#efdd76", "#8fd9d1", "#d6bb9e")
_DARK = ("#1f5a9e", "#8f5600", "#2b6f37", "#943a62", "#5b45a3", "#6d5d00", "#11696a", "#6d5038")
COLOURS = len(_LIGHT)

_STYLE = """
text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
svg{--paper:#fff;--ink:#1c2128;--soft:#626c76;--rule:#d9dee3;--band:#f4f6f8;--red:#c9212e;--green:#1a7f37;--heat:#d1560b}
.paper{fill:var(--paper)}.band{fill:var(--band)}.rule{stroke:var(--rule)}.soft,.soft text{fill:var(--soft)}
.bold{font-weight:600}.pending{stroke:var(--soft);stroke-width:1.5}
.nominated{stroke:var(--ink);stroke-width:2;stroke-dasharray:4 3}
.bracket{fill:none;stroke:var(--ink);stroke-width:1.5}.arrow{fill:none;stroke:var(--red);stroke-width:1.5}
.head{fill:var(--red)}.over{fill:none;stroke:var(--red);stroke-width:2}
.yes{stroke:var(--green)}.no{stroke:var(--red)}.yes-dot{fill:var(--green)}.no-dot{fill:var(--red)}
.bad{fill:var(--red)}.badge{fill:var(--paper);font-weight:600}.early{opacity:.5}.mark{fill:var(--ink)}.hatch{stroke:var(--ink);opacity:.55}
.heat{fill:var(--heat)}.hot{fill:var(--red)}.yes,.no{stroke-opacity:.7}
.name{paint-order:stroke;stroke-width:3px;stroke-linejoin:round;stroke-opacity:.85}
"""
_DARK_ROOT = (
    "svg{--paper:#14181d;--ink:#e8edf2;--soft:#9aa5b1;--rule:#333b44;--band:#1b2128;--red:#ff7b72;--green:#4ac26b;"
    "--heat:#f08b3e}"
)


class Canvas:
    """Shapes in the order in which they are drawn, all text above them; `tooltips=False` saves a third of the size."""

    def __init__(self, *, tooltips: bool = True) -> None:
        self._parts: list[str] = []
        self._texts: list[str] = []
        self._tooltips = tooltips

    def box(
        self, kind: str, left: float, top: float, width: float, height: float, tooltip: str = "", round_: int = 0
    ) -> None:
        corner = f' rx="{round_}"' if round_ else ""
        place = f'x="{rounded(left)}" y="{rounded(top)}" width="{rounded(max(width, 0.5))}" height="{rounded(height)}"'
        self._shape("rect", f'class="{kind}" {place}{corner}', tooltip)

    def path(self, kind: str, drawn: str, tooltip: str = "", more: str = "") -> None:
        self._shape("path", f'class="{kind}" d="{drawn}"{more}', tooltip)

    def line(self, kind: str, left: float, top: float, right: float, bottom: float, tooltip: str = "") -> None:
        self.path(kind, f"M{rounded(left)} {rounded(top)}L{rounded(right)} {rounded(bottom)}", tooltip)

    def text(self, left: float, top: float, text: str, kind: str = "", anchor: str = "") -> None:
        extra = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
        self._texts.append(f'<text x="{rounded(left)}" y="{rounded(top)}"{extra}>{escaped(text)}</text>')

    def circle(self, kind: str, left: float, top: float, radius: float) -> None:
        self._parts.append(f'<circle class="{kind}" cx="{rounded(left)}" cy="{rounded(top)}" r="{rounded(radius)}"/>')

    def finish(self, height: float, label: str) -> str:
        """The whole document."""
        tall = int(height) + 1
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" height="{tall}" '
            f'role="img" aria-label="{escaped(label)}"><style>{_style()}</style><defs>'
            '<pattern id="grace" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<path class="hatch" d="M0 0V6" stroke-width="2.5"/></pattern>'
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>'
            f'<rect class="paper" width="{WIDTH}" height="{tall}"/>{"".join(self._parts + self._texts)}</svg>\n'
        )

    def _shape(self, name: str, attributes: str, tooltip: str) -> None:
        if tooltip and self._tooltips:
            self._parts.append(f"<{name} {attributes}><title>{escaped(tooltip)}</title></{name}>")
        else:
            self._parts.append(f"<{name} {attributes}/>")


def rounded(number: float) -> str:
    """One digit after the point: a twentieth of a pixel is invisible."""
    return f"{number:.1f}".removesuffix(".0")


def escaped(text: str) -> str:
    """Escaped and on one line."""
    return escape(one_line(text, 400), {'"': "&quot;"})


def cut_end(text: str, width: float) -> str:
    """As much as fits into so many pixels, nothing where that would be unreadable."""
    letters = int((width - 6) / LETTER)
    if len(text) <= letters:
        return text
    return f"{text[: letters - 1]}…" if letters >= _FEWEST_LETTERS else ""


def width_of(text: str) -> float:
    """About how many pixels a text takes."""
    return LETTER * len(text)


def cut_middle(text: str, width: float) -> str:
    """The same for names, which differ at their ends: what is left out is their middle."""
    letters = int(width / LETTER)
    if len(text) <= letters:
        return text
    return f"{text[: letters // 2 - 1]}…{text[-(letters - letters // 2) :]}"


def bar_label(name: str, width: float) -> str:
    """A name on a bar: whole, without its middle, its end, or nothing."""
    letters = int((width - 6) / LETTER)
    if len(name) <= letters or letters >= 2 * _FEWEST_LETTERS:
        return cut_middle(name, LETTER * letters)
    return f"…{name[1 - letters :]}" if letters >= _FEWEST_LETTERS else ""


def _style() -> str:
    return f"{_STYLE.strip()}{_colours(_LIGHT)}@media(prefers-color-scheme:dark){{{_DARK_ROOT}{_colours(_DARK)}}}"


def _colours(colours: Sequence[str]) -> str:
    """Of the bars, and around the names on them: a name must be legible on hatching, too."""
    return "".join(f".c{number}{{fill:{it}}}.n{number}{{stroke:{it}}}" for number, it in enumerate(colours))
