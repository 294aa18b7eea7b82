"""A rule set as a table, and a table as a rule set: what is written is enough to predict the same, even through CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pdp_widgets.inputs import FeatureTable, InputError, Observed
from pdp_widgets.inputs.conditions import Levels, literal_text, quote
from pdp_widgets.inputs.subgroup import parse

from .conditions import merged
from .evaluation import axis_of
from .importance import chosen_outputs, global_importance, relative
from .ruleset import Link, RuleSet
from .terms import Linear, Rule, Term

if TYPE_CHECKING:
    from collections.abc import Hashable

_FACTS = ("support", "n", "support_heldout", "mean_inside", "mean_outside")
_NUMBERS = ("low", "high", "missing_as", "mean", "sd")
_NO_VALUE = {"na", "nan", "null", "none"}  # what readers of CSV take for an empty cell


def to_frame(rules: RuleSet, output: Any = None) -> pd.DataFrame:
    """Return the table of ``RuleSet.to_frame``."""
    blocks = [_block(rules, o) for o in chosen_outputs(rules, output)]
    frame = pd.concat(blocks, ignore_index=True)
    if len(blocks) > 1:
        names = [rules.outputs[o] for o in chosen_outputs(rules, output)]
        frame.insert(0, "output", np.repeat(np.array(names, dtype=object), [len(block) for block in blocks]))
    return frame


def _block(rules: RuleSet, o: int) -> pd.DataFrame:
    overall = global_importance(rules)[o]
    # By importance; where the support is not known, by the coefficient.
    order = np.lexsort((-np.abs(rules.coefficients[o]), -np.nan_to_num(overall, nan=-1.0)))
    terms = [rules.terms[k] for k in order]
    facts = {name: np.atleast_2d(getattr(rules, name)) for name in _FACTS}
    columns: dict[str, Any] = {
        "rank": range(len(terms) + 1),
        "kind": ["intercept", *("linear" if isinstance(term, Linear) else "rule" for term in terms)],
        "term": ["intercept", *(term.label for term in terms)],
        "text": ["", *map(_text, terms)],
        "features": ["", *(", ".join(map(_cell_name, term.features)) for term in terms)],
        "feature_kinds": ["", *(", ".join(_kinds_of(term).values()) for term in terms)],
        "coefficient": [rules.intercept[o], *rules.coefficients[o, order]],
    }
    if rules.link != "identity":
        with np.errstate(over="ignore"):
            columns["odds_ratio"] = [np.nan, *np.exp(rules.coefficients[o, order])]
    for name in ("support", "n", "support_heldout"):
        columns[name] = [np.nan, *facts[name][0, order]]
    columns["importance"] = [np.nan, *relative(overall)[order]]
    columns["importance_abs"] = [np.nan, *overall[order]]
    columns["conditions"] = [0, *(len(term.conditions) if isinstance(term, Rule) else 0 for term in terms)]
    for name in ("mean_inside", "mean_outside"):
        columns[name] = [np.nan, *facts[name][o, order]]
    for name in ("low", "high", "missing_as"):
        numbers = (getattr(term, name) if isinstance(term, Linear) and not term.level else np.nan for term in terms)
        columns[name] = [np.nan, *numbers]
    columns["level"] = [
        "",
        *(literal_text(term.level[0]) if isinstance(term, Linear) and term.level else "" for term in terms),
    ]
    for name in ("mean", "sd"):
        columns[name] = [np.nan, *(getattr(term, name) if isinstance(term, Linear) else np.nan for term in terms)]
    return pd.DataFrame(columns)


def from_frame(
    frame: pd.DataFrame,
    *,
    link: Link | None,
    classes: Sequence[Any] | None,
    outputs: Sequence[str] | None,
    intercept: float | None,
    feature_names: Sequence[str] | None,
    X: Any,
) -> RuleSet:
    """Return the rule set of ``RuleSet.from_frame``."""
    for name in ("text", "coefficient"):
        if name not in frame.columns:
            raise InputError(f"the table has no column {name!r}; expected at least 'text' and 'coefficient'")
    table = X if X is None or isinstance(X, FeatureTable) else FeatureTable(X)
    records = [{str(name): value for name, value in record.items()} for record in frame.to_dict("records")]
    blocks = _split(records, intercept)
    if link is None:
        if "odds_ratio" in frame.columns:
            how = "link='logit'" if len(blocks) == 1 else "link='ovr'"
            raise InputError(
                f"the table is that of a classifier (it has odds ratios) and does not name its classes: pass {how} and "
                "classes=model.classes_, or link='identity' to predict the log-odds themselves"
            )
        link = "identity"
    terms: dict[Hashable, Term] = {}
    found: list[dict[Hashable, dict[str, Any]]] = []
    for _, rows in blocks:
        rows_of_term: dict[Hashable, dict[str, Any]] = {}
        for row in rows:
            term = _term(row, table)
            key: Hashable = (type(term), term)
            if key in rows_of_term:
                raise InputError(f"the table has the term {row['text']!r} twice")
            rows_of_term[key] = row
            terms.setdefault(key, term)
        found.append(rows_of_term)
    shape = (len(blocks), len(terms))
    facts = {name: np.full(shape, np.nan) for name in _FACTS}
    coefficients = np.zeros(shape)
    for o, rows_of_term in enumerate(found):
        for k, key in enumerate(terms):
            if key in rows_of_term:
                coefficients[o, k] = _number(rows_of_term[key], "coefficient")
                for name in _FACTS:
                    facts[name][o, k] = _number(rows_of_term[key], name)
    if outputs is None and link == "identity" and len(blocks) > 1 and "output" in frame.columns:
        outputs = list(dict.fromkeys(frame["output"].astype(str)))
    if feature_names is None and table is not None:
        feature_names = table.column_names
    shared = {name: facts[name][0] for name in ("support", "n", "support_heldout")}
    rules = RuleSet(
        tuple(_with_support(term, facts["support"][0, k]) for k, term in enumerate(terms.values())),
        coefficients,
        np.array([start for start, _ in blocks]),
        link=link,
        outputs=tuple(outputs or ()),
        classes=None if classes is None else tuple(classes),
        feature_names=tuple(feature_names or ()),
        mean_inside=facts["mean_inside"],
        mean_outside=facts["mean_outside"],
        **shared,
    )
    return rules.with_support(table) if table is not None and "support" not in frame.columns else rules


def _split(records: list[dict[str, Any]], intercept: float | None) -> list[tuple[float, list[dict[str, Any]]]]:
    """Return intercept and terms of each output: a row "intercept" begins a new one."""
    blocks: list[tuple[float, list[dict[str, Any]]]] = []
    loose: list[dict[str, Any]] = []
    for row in records:
        if row.get("kind") == "intercept" or (
            "kind" not in row and str(row["text"]).strip("()").lower() == "intercept"
        ):
            blocks.append((_number(row, "coefficient"), []))
        else:
            (blocks[-1][1] if blocks else loose).append(row)
    if blocks:
        if len(blocks) > 1 and loose:
            raise InputError("the table has several outputs; each must begin with its intercept")
        return [(blocks[0][0], loose + blocks[0][1]), *blocks[1:]]
    column = {_number(row, "intercept") for row in loose if not np.isnan(_number(row, "intercept"))}
    if len(column) > 1:
        raise InputError(f"the column 'intercept' holds {len(column)} values; expected one")
    if intercept is not None:
        return [(float(intercept), loose)]
    if not column:
        raise InputError("the table has no intercept: add a row or a column 'intercept', or pass intercept=")
    return [(column.pop(), loose)]


def _term(row: Mapping[str, Any], table: FeatureTable | None) -> Term:
    text = str(row["text"]).strip()
    kind = row.get("kind")
    kinds = _written_kinds(row)
    if kinds is None and table is None:
        raise InputError("the table does not say the kinds of the features (column 'feature_kinds'); pass X")
    name = _bare_name(text)
    if kinds is None:
        assert table is not None
        known = table.features.get(name)
        if kind == "linear" or (kind is None and known is not None and known.axis != "category"):
            if known is not None:
                return _linear(name, row, table.observed(name).text_kind)
            condition = Rule.of(text, table).conditions
            if (
                len(condition) == 1
                and isinstance(level := condition[0], Levels)
                and len(level.levels) == 1
                and not level.negate
            ):
                return Linear(level.feature, level=level.levels, mean=_number(row, "mean"), sd=_number(row, "sd"))
        return Rule.of(text, table)
    if kind == "linear" and list(kinds.values()) != ["category"]:
        return _linear(next(iter(kinds)), row, next(iter(kinds.values())))
    conditions = merged(parse(text, _described(kinds)))
    if kind != "linear":
        return Rule(conditions)
    level = cast("Levels", conditions[0])
    return Linear(level.feature, level=level.levels, mean=_number(row, "mean"), sd=_number(row, "sd"))


def _linear(name: str, row: Mapping[str, Any], kind: str) -> Linear:
    low, high, missing_as, mean, sd = (_number(row, column) for column in _NUMBERS)
    return Linear(
        name,
        -np.inf if np.isnan(low) else low,
        np.inf if np.isnan(high) else high,
        missing_as=0.0 if np.isnan(missing_as) else missing_as,
        kind=kind,
        mean=mean,
        sd=sd,
    )


def _described(kinds: Mapping[str, str]) -> FeatureTable:
    """Return what the reader of conditions asks of a table: names and kinds; levels are whatever is written."""
    axes = {name: "datetime" if kind == "instant" else kind for name, kind in kinds.items()}

    def observed(name: str) -> Observed:
        return Observed(cast("Any", axes[name]), np.empty(0), timezone="UTC" if kinds[name] == "instant" else None)

    return cast("FeatureTable", SimpleNamespace(features=dict(kinds), observed=observed, column_names=list(kinds)))


def _kinds_of(term: Term) -> dict[str, str]:
    """Return the kind of each feature of a term, as its conditions read it."""
    if isinstance(term, Linear):
        return {term.feature: "category" if term.level else term.kind}
    kinds = dict.fromkeys(term.features, "")
    for condition in term.conditions:
        kinds[condition.feature] = kinds[condition.feature] or axis_of(condition)
    # A feature that is only asked whether it is missing may be of any kind.
    return {name: kind or "category" for name, kind in kinds.items()}


def _text(term: Term) -> str:
    return term.text if isinstance(term, Rule) or term.level else _cell_name(term.feature)


def _cell_name(name: str) -> str:
    """Return a name as conditions write it, and never a cell that a reader of CSV would take for empty."""
    return f"`{name}`" if name.casefold() in _NO_VALUE else quote(name)


def _bare_name(text: str) -> str:
    quoted = re.fullmatch(r"`((?:[^`]|``)*)`", text)
    return quoted[1].replace("``", "`") if quoted else text


def _written_kinds(row: Mapping[str, Any]) -> dict[str, str] | None:
    if "features" not in row or "feature_kinds" not in row:
        return None
    names, kinds = (("" if pd.isna(row[column]) else str(row[column])) for column in ("features", "feature_kinds"))
    found = [match[0] for match in re.finditer(r"`(?:[^`]|``)*`|[^,\s]+", names)]
    written = [kind for kind in kinds.split(", ") if kind]
    if len(found) != len(written):
        raise InputError(f"features {names!r} and feature_kinds {kinds!r} do not match")
    return {_bare_name(name): kind for name, kind in zip(found, written, strict=True)}


def _number(row: Mapping[str, Any], column: str) -> float:
    value = row.get(column)
    if value is None or pd.isna(value):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {column!r} holds {value!r}; expected numbers") from error


def _with_support(term: Term, support: float) -> Term:
    return replace(term, support=support) if isinstance(term, Rule) else term
