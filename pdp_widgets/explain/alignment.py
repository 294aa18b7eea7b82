"""What models need to have in common to be compared: the rows, the grid, and outputs that mean the same."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import Feature, FeatureTable, InputError, find_output, model_name
from pdp_widgets.inputs.columns import distinct
from pdp_widgets.inputs.errors import did_you_mean

from .grids import PAIR_GRID_SIZE

if TYPE_CHECKING:
    from pdp_widgets.inputs import Grid

    from .explainer import Explainer


def explainers_of(models: Any, X: Any, options: dict[str, Any], *, caller: str = "compare") -> dict[str, Explainer]:
    """Return an explainer per model."""
    from .explainer import Explainer

    if not isinstance(models, (Mapping, list, tuple)) or len(models) < 2:
        given = f"{len(models)} of them" if isinstance(models, (Mapping, list, tuple)) else type(models).__name__
        raise InputError(f"models: given {given}; expected two or more models, in a list or a mapping of name to model")
    known = [name for name in inspect.signature(Explainer).parameters if name not in ("model", "X")]
    for name in options:
        if name not in known:
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}{did_you_mean(name, known)}")
    named: dict[str, Any] = {}
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        taken: set[str] = set()
        for model in models:
            named[distinct(model_name(model.model if isinstance(model, Explainer) else model), taken)] = model
    if X is None or all(isinstance(model, Explainer) for model in named.values()):
        bare = [name for name, model in named.items() if not isinstance(model, Explainer)]
        if bare:
            raise InputError(f"X is None, but {bare[0]!r} is no Explainer; pass the rows to average over")
        if options:
            raise InputError(
                f"{next(iter(options))}= is for explainers that are made here, but all models are explainers already"
            )
    return {
        name: model if isinstance(model, Explainer) else Explainer(model, X, **options) for name, model in named.items()
    }


def require_same_rows(made: dict[str, Explainer], models: Any, X: Any) -> None:
    """Complain where explainers average over other rows than X or each other.

    Raises
    ------
    InputError
        With the first difference.
    """
    given = list(models.values() if isinstance(models, Mapping) else models)
    named = dict(zip(made, given, strict=True))
    reference = next((name for name, one in made.items() if one is not named[name]), next(iter(made)))
    first = made[reference]
    if X is not None and first is named[reference]:
        table = FeatureTable(X)
        table = table.take(first.rows_given) if table.n_rows == first.n_rows_given else table
        if apart := difference_in_rows(first.table, table):
            raise InputError(f"the explainer of {reference!r} has other rows than X: {apart}")
    for name, one in made.items():
        if one is first or one is not named[name]:  # those made here have the rows of the first
            continue
        apart = difference_in_rows(one.table, first.table)
        if not apart and not _same_weights(one.weights, first.weights):
            apart = "sample_weight is another"
        if apart:
            raise InputError(f"the explainers of {name!r} and {reference!r} do not average over the same rows: {apart}")


def _same_weights(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    a, b = (np.ones(1) if weights is None else weights for weights in (a, b))
    return bool(np.allclose(a, b, rtol=1e-12, atol=0))


def require_one_scale(explainers: dict[str, Explainer]) -> None:
    """Complain where models answer on different scales: a probability minus log-odds means nothing.

    Raises
    ------
    InputError
        With each model's scale.
    """
    scales = {name: one.scale for name, one in explainers.items()}
    if len(set(scales.values())) > 1:
        said = ", ".join(f"{name!r} answers in {scale}" for name, scale in scales.items())
        raise InputError(
            f"{said}; models are compared on one scale: pass response=, one that all of them have or a function of "
            "(model, X)"
        )


def shared_outputs(explainers: dict[str, Explainer]) -> tuple[list[list[int]], tuple[str, ...], tuple[Any, ...]]:
    """Return per model the positions of the outputs that all have, and the names and labels of these."""
    each = list(explainers.values())
    found: list[list[int]] = []
    for k in range(len(each[0].outputs)):
        at = [place for other in each if (place := counterpart(each[0], k, other)) is not None]
        if len(at) == len(each):
            found.append(at)
    if not found:
        said = "; ".join(
            f"{name!r}: {', '.join(_outputs(one)[:6])}" + (", ..." if len(one.outputs) > 6 else "")
            for name, one in explainers.items()
        )
        raise InputError(
            f"the models have no output in common ({said}); classes are the same where they are equal (1 and '1' are two), and "
            "output_names= names the outputs of models without classes"
        )
    mine = [at[0] for at in found]
    labels = each[0].response.raw_labels
    return (
        [[at[m] for at in found] for m in range(len(each))],
        tuple(each[0].outputs[k] for k in mine),
        tuple(labels[k] for k in mine) if labels else (),
    )


def _outputs(one: Explainer) -> list[str]:
    """Return outputs as they are told apart: classes as Python writes them."""
    labels = one.response.raw_labels
    return (
        [repr(label.item() if isinstance(label, np.generic) else label) for label in labels]
        if labels
        else list(one.outputs)
    )


def counterpart(one: Explainer, k: int, other: Explainer) -> int | None:
    """Return the output of another model that means the same, None where there is none."""
    labels, others = one.response.raw_labels, other.response.raw_labels
    if labels and others:
        try:
            return find_output(labels[k], (), others)
        except InputError:
            return None
    if not labels and not others and len(one.outputs) == len(other.outputs) == 1:
        return 0
    return other.outputs.index(one.outputs[k]) if one.outputs[k] in other.outputs else None


def on_one_grid(explainers: dict[str, Explainer], feature: Any, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Return per explainer how to ask for the grid of the first one."""
    first = next(iter(explainers.values()))
    if isinstance(wanted["grid"], str) and wanted["grid"] == "steps":
        raise InputError(
            "grid='steps': the steps of one model are not those of another; pass grid_size or your own grid"
        )
    pair = len(first.ice(feature, **wanted).grids) == 2
    size = min(PAIR_GRID_SIZE, first.grid_size) if pair else first.grid_size
    for option, value in (("grid_size", size), ("percentiles", first.percentiles)):
        if wanted[option] is None:
            wanted = wanted | {option: value}
    grids = first.ice(feature, **wanted).grids
    found = []
    for name, one in explainers.items():
        asked = wanted
        if not equal_grids(one.ice(feature, **asked).grids, grids):
            points = [list(grid.values) for grid in grids]
            asked = {"grid": points if pair else points[0]}
            with suppress(InputError):
                if equal_grids(one.ice(feature, **asked).grids, grids):
                    found.append(asked)
                    continue
            names = " x ".join(grid.feature.name for grid in grids)
            raise InputError(
                f"{name!r} cannot have the grid of {next(iter(explainers))!r} on {names!r}: their explainers see it as "
                "something else; pass X and the models themselves, or a grid that both can hold"
            )
        found.append(asked)
    return found


def grid_of_first(first: Explainer, other: Explainer, feature: str) -> dict[str, Any] | None:
    """Return how to ask another explainer for the first one's grid of a feature; None where it cannot have that grid."""
    grid = first.grid(feature)
    if equal_grids((other.grid(feature),), (grid,)):
        return {}
    points = list(grid.values)
    with suppress(InputError):
        if equal_grids((other.grid(feature, grid=points),), (grid,)):
            return {"grid": points}
    return None


def equal_grids(some: tuple[Grid, ...], others: tuple[Grid, ...]) -> bool:
    """Whether curves on these grids can be laid over each other."""
    return all(
        a.feature.name == b.feature.name and a.kind == b.kind and a.labels == b.labels
        and np.array_equal(a.positions, b.positions, equal_nan=True)
        for a, b in zip(some, others, strict=True)
    )  # fmt: skip


def difference_in_rows(one: FeatureTable, other: FeatureTable) -> str:
    """Return in words how the rows of a table differ from those of another, "" when they are the same.

    Columns are compared by name, order and value: 1 is 1.0, and a missing value is a missing value.
    """
    if one.n_rows != other.n_rows:
        return f"{one.n_rows} rows and {other.n_rows}"
    if one.column_names != other.column_names:
        odd = [name for name in one.column_names if name not in other.column_names]
        odd += [name for name in other.column_names if name not in one.column_names]
        return f"column {odd[0]!r} is in one of them only" if odd else "the columns are in another order"
    rows = np.arange(one.n_rows)
    for j, name in enumerate(one.column_names):
        column = Feature(name, "category", (j,))  # the kind does not matter for raw values
        equal = _equal_values(one.values(column, rows)[0], other.values(column, rows)[0])
        if not equal.all():
            return f"{int((~equal).sum())} values of column {name!r} differ, first in row {one.row_label(int(equal.argmin()))}"
    return ""


def _equal_values(a: Any, b: Any) -> np.ndarray:
    """(n,) bool: where two columns hold the same."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "biuf" and b.dtype.kind in "biuf":
        return (a == b) | ((a != a) & (b != b))  # noqa: PLR0124 (NaN)
    a, b = (pd.Series(values).astype(object).to_numpy() for values in (a, b))
    gone_a, gone_b = pd.isna(a), pd.isna(b)
    equal = gone_a & gone_b
    both = ~gone_a & ~gone_b
    equal[both] = [bool(x == y) for x, y in zip(a[both], b[both], strict=True)]
    return equal
