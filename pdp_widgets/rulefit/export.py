"""A rule set for people: as text, Markdown, HTML and CSV. Names and levels are data and never become markup."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs.conditions import literal_text

from .importance import chosen_outputs, global_importance, relative
from .terms import Linear

if TYPE_CHECKING:
    from .ruleset import RuleSet

_SHOWN = 20  # terms in the table of a notebook


def to_text(rules: RuleSet, *, output: Any = None) -> str:
    """Return the sum as plain text, the most important terms first; its numbers are exact, so that it predicts the same."""
    blocks = []
    for o in chosen_outputs(rules, output):
        lines = [f"{_subject(rules, o)} =", f"  {_exact(rules.intercept[o])}"]
        for k in _order(rules, o):
            a, term = rules.coefficients[o, k], rules.terms[k]
            how = f"* {_plain(_whole(term))}" if _is_number(term) else f"if {_plain(_whole(term))}"
            lines.append(f"  {'-' if a < 0 else '+'} {_exact(abs(a))} {how}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def to_markdown(rules: RuleSet, *, output: Any = None) -> str:
    """Return the terms as Markdown tables, one per output, the most important first; coefficients and limits are exact."""
    blocks = []
    for o in chosen_outputs(rules, output):
        header, rows = _cells(rules, o, len(rules), exact=True)
        lines = [f"**{_markdown(_subject(rules, o))}**", ""]
        lines += ["| " + " | ".join(header) + " |", "|" + " --- |" + " ---: |" * (len(header) - 1)]
        lines += ["| " + " | ".join(map(_markdown, row)) + " |" for row in rows]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def to_html(rules: RuleSet, *, output: Any = None) -> str:
    """Return the most important terms as HTML tables, one per output."""
    blocks = []
    for o in chosen_outputs(rules, output):
        header, rows = _cells(rules, o, _SHOWN)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        more = len(_order(rules, o)) - _SHOWN
        foot = f"<p>and {more} more: to_frame()</p>" if more > 0 else ""
        caption = html.escape(_subject(rules, o))
        blocks.append(
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"
        )
    return f"<div>{''.join(blocks)}</div>"


def _order(rules: RuleSet, o: int) -> list[int]:
    """Return the terms of an output, the most important first; without support by the size of the coefficient."""
    a, overall = np.abs(rules.coefficients[o]), np.nan_to_num(global_importance(rules)[o], nan=-1.0)
    return [int(k) for k in np.lexsort((-a, -overall)) if a[k] > 0]


def _cells(rules: RuleSet, o: int, most: int, *, exact: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of an output's table; ``exact``: all that is needed to predict the same."""
    number, name = (_exact, _whole) if exact else (_short, _label)
    odds = rules.link != "identity"
    header = ["term", "coefficient", *(["odds times"] if odds else []), "support", "importance"]
    rows = [["intercept", number(rules.intercept[o]), *([""] if odds else []), "", ""]]
    share = relative(global_importance(rules)[o])
    for k in _order(rules, o)[:most]:
        a = rules.coefficients[o, k]
        with np.errstate(over="ignore"):
            times = [f"{np.exp(a):.4g}"] if odds else []
        support = "" if np.isnan(rules.support[k]) else f"{rules.support[k]:.3f}"
        importance = "" if np.isnan(share[k]) else f"{share[k]:.1f}"
        rows.append([name(rules.terms[k]), number(a), *times, support, importance])
    return header, rows


def _label(term: Any) -> str:
    limits = term.limits if _is_number(term) else ""
    return f"{term.label} ({limits})" if limits else term.label


def _whole(term: Any) -> str:
    """Return a term with all that its values depend on."""
    if not _is_number(term):
        return str(term.label)
    missing = f"missing as {literal_text(float(term.missing_as), term.kind).strip(chr(39))}"
    return f"{term.label} ({', '.join(filter(None, [term.limits, missing]))})"


def _exact(value: float) -> str:
    return literal_text(float(value))


def _short(value: float) -> str:
    return f"{value:.6g}"


def _is_number(term: Any) -> bool:
    return isinstance(term, Linear) and not term.level


def _subject(rules: RuleSet, o: int) -> str:
    return rules.outputs[o] if rules.link == "identity" else f"log-odds of {rules.outputs[o]}"


def _plain(text: str) -> str:
    """Return a name on one line."""
    return " ".join(text.split())


def _markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$:@])", r"\\\1", html.escape(_plain(text), quote=False))
