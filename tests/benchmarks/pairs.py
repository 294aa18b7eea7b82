"""Interactions of black boxes against the plain double loop, permutation importance against scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from measure import Row, cpu, friedman, measurement


@measurement
def black_box_pairs() -> Iterator[Row]:
    """All 45 pairs, 10 overall and in total of a black box at 300 rows: model rows and CPU against the plain double loop."""
    from sklearn.ensemble import GradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    from pdp_widgets import Explainer

    X, y = friedman()
    X = X[:300]
    model = GradientBoostingRegressor(random_state=0).fit(X, y[:300])
    n, names = len(X), list(X.columns)
    implied = n + n * n * (
        10 + 45
    )  # a prediction each, a matrix for each feature, which serves the others too, and each pair

    def double_loop(moved: list[str]) -> np.ndarray:
        """Return the partial dependence of some columns at each row, one call per row."""
        out = np.empty(n)
        for i in range(n):
            block: Any = X.copy()
            for name in moved:
                block[name] = X[name].iloc[i]
            out[i] = model.predict(block).mean()
        return out

    sets = [[name] for name in names] + [[b for b in names if b != a] for a in names]
    sets += [list(pair) for pair in combinations(names, 2)]
    tried = [sets[0], sets[10], sets[20]]
    with threadpool_limits(1):
        explainer = Explainer(model, X, method="model")
        before = explainer.rows_asked
        ours = cpu(lambda: explainer.interactions(rows=None, progress=False))
        asked = explainer.rows_asked - before
        theirs = cpu(lambda: [double_loop(moved) for moved in tried]) * len(sets) / len(tried)
    yield Row("model rows for 45 pairs at 300 rows / implied", asked / implied, 1.0, "x", f"{asked:,} rows")
    yield Row(
        "CPU of it / plain double loop", ours / theirs, 0.5, "x",
        f"{ours:.1f} s / {theirs:.1f} s (from {len(tried)} of {len(sets)} loops)",
    )  # fmt: skip


@measurement
def permutation() -> Iterator[Row]:
    """CPU of permutation importance, five repeats, against scikit-learn's on the same model and data."""
    from measure import alternate
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.inspection import permutation_importance

    from pdp_widgets import Explainer
    from pdp_widgets.explain.permutation import Permutation

    X, y = friedman()
    for name, model in (
        ("GB", GradientBoostingRegressor(random_state=0)),
        ("RF", RandomForestRegressor(50, random_state=0)),
    ):
        model.fit(X, y)

        def ours(model: Any = model) -> None:
            explainer = Explainer(model, X, y, method="model")
            work = Permutation(explainer.source, explainer.y, np.arange(len(X)), 5, None, 0)
            list(work.start())
            for feature in explainer.features.values():
                list(work.measure(feature))

        def theirs(model: Any = model) -> None:
            permutation_importance(model, X, y, n_repeats=5, random_state=0, scoring="neg_mean_squared_error")

        mine, other = alternate(ours, theirs, 3)
        yield Row(
            f"CPU of permutation importance / scikit-learn, {name}",
            mine / other,
            1.0,
            "x",
            f"{mine:.2f} s / {other:.2f} s",
        )
