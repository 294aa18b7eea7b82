"""One small run of every compiled loop, so that each is compiled or read from disk."""

from __future__ import annotations

from functools import cache

import numpy as np

from pdp_widgets.inputs import FeatureTable, make_grid

from . import means
from .sums import TreeSums


@cache
def _example() -> TreeSums:
    from sklearn.tree import DecisionTreeRegressor

    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return TreeSums(FeatureTable(X), DecisionTreeRegressor().fit(X, X[:, 0] * X[:, 1]), "predict", threads=1)


def curves() -> None:
    """Run what ICE curves need."""
    sums = _example()
    sums.ice(np.arange(4), [make_grid(sums.points.table, sums.points.table.feature("x0"))])


def averages() -> None:
    """Run what averages over rows and predictions across rows need."""
    sums = _example()
    features = list(sums.points.table.features.values())
    grids = [make_grid(sums.points.table, feature) for feature in features]
    means.partial_dependence(sums, grids, [(0, 1)])
    means.joint_means(sums, features)
    sums.cross(np.arange(4), np.arange(4), features[:1])


STEPS = (curves, averages)
