"""RuleFit against its goals and, where they are installed, against other packages' RuleFits (imodels, rulefit)."""

from __future__ import annotations

import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from measure import Row, cpu, measurement

PEERS = os.environ.get("PDP_WIDGETS_PEERS", "")
"""A Python with imodels (and rulefit) in it, an environment of its own: they are no dependencies. Without it the goals stand alone."""


def _folds(
    model: Callable[[int], Any],
    X: Any,
    y: Any,
    score: Callable[[Any, Any, Any], list[float]],
    classes: bool,
    seeds: int = 1,
) -> list[float]:
    """Return mean scores over five folds, and the mean number of terms; each seed makes other folds and other fits."""
    import numpy as np
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if classes else KFold
    found = []
    for seed in range(seeds):
        for train, test in kind(5, shuffle=True, random_state=seed).split(X, y):
            fitted = model(seed).fit(X[train], y[train])
            found.append([*score(fitted, X[test], y[test]), float(len(fitted.ruleset_))])
    return np.mean(found, axis=0).tolist()


def _data() -> dict[str, tuple[Any, Any]]:
    from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1

    return {
        "friedman1": make_friedman1(2000, n_features=10, noise=1.0, random_state=0),
        "diabetes": load_diabetes(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
    }


@measurement
def rulefit_quality() -> Iterator[Row]:
    """RuleFit at its defaults over five folds: friedman1 (n=2000), diabetes (442 rows: six times), breast cancer."""
    from sklearn.metrics import log_loss, roc_auc_score

    from pdp_widgets import RuleFitClassifier, RuleFitRegressor

    data = _data()

    def r2(model: Any, X: Any, y: Any) -> list[float]:
        return [model.score(X, y)]

    def classes(model: Any, X: Any, y: Any) -> list[float]:
        chances = model.predict_proba(X)[:, 1]
        return [log_loss(y, chances), roc_auc_score(y, chances)]

    (score, terms) = _folds(lambda seed: RuleFitRegressor(random_state=seed), *data["friedman1"], r2, False)
    yield Row("friedman1, R2", score, 0.92, "", f"{terms:.0f} terms", least=True)
    (score, terms) = _folds(lambda seed: RuleFitRegressor(random_state=seed), *data["diabetes"], r2, False, 6)
    yield Row("diabetes, R2", score, 0.42, "", f"{terms:.0f} terms, six times five folds", least=True)
    yield Row("diabetes, terms", terms, 45, "")
    loss, area, terms = _folds(lambda seed: RuleFitClassifier(random_state=seed), *data["breast cancer"], classes, True)
    yield Row("breast cancer, log-loss", loss, 0.10, "", f"{terms:.0f} terms")
    yield Row("breast cancer, AUC", area, 0.992, "", least=True)
    yield from _peers()


def _peers() -> Iterator[Row]:
    """Yield the same of imodels, as far as it is there (no goals: NaN)."""
    if not PEERS:
        return
    code = """
import warnings; warnings.simplefilter("ignore")
import time, numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.metrics import log_loss, roc_auc_score
from imodels import RuleFitRegressor, RuleFitClassifier
for rules in (30, 100):
    for name, (X, y) in {"friedman1": make_friedman1(2000, n_features=10, noise=1.0, random_state=0), "diabetes": load_diabetes(return_X_y=True)}.items():
        r, t = [], []
        for a, b in KFold(5, shuffle=True, random_state=0).split(X):
            start = time.process_time(); m = RuleFitRegressor(max_rules=rules, random_state=0).fit(X[a], y[a]); t.append(time.process_time() - start)
            p = np.asarray(m.predict(X[b])); r.append(1 - np.square(y[b] - p).sum() / np.square(y[b] - y[b].mean()).sum())
        print(f"imodels(max_rules={rules}) {name} R2|{np.mean(r)}|{np.mean(t):.1f} s CPU a fit")
    X, y = load_breast_cancer(return_X_y=True)
    losses, areas = [], []
    for a, b in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        p = RuleFitClassifier(max_rules=rules, random_state=0).fit(X[a], y[a]).predict_proba(X[b])[:, 1]
        losses.append(log_loss(y[b], p)); areas.append(roc_auc_score(y[b], p))
    print(f"imodels(max_rules={rules}) breast cancer log-loss|{np.mean(losses)}|AUC {np.mean(areas):.4f}")
"""
    done = subprocess.run([PEERS, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        warnings.warn(f"the peers could not be measured: {done.stderr[-300:]}", stacklevel=2)
    for line in done.stdout.splitlines():
        if line.count("|") == 2:
            what, value, detail = line.split("|")
            yield Row(what, float(value), float("nan"), "", detail)


@measurement
def rulefit_speed() -> Iterator[Row]:
    """CPU of RuleFit on one thread: fits with cross-validation, predictions of many rules."""
    import numpy as np
    from sklearn.datasets import make_friedman1
    from threadpoolctl import threadpool_limits

    from pdp_widgets import RuleFitRegressor

    with threadpool_limits(1):
        X, y = make_friedman1(2000, n_features=10, noise=1.0, random_state=0)
        RuleFitRegressor(max_rules=50, random_state=0).fit(X[:200], y[:200])  # imports
        yield Row("fit friedman1, n=2000", cpu(lambda: RuleFitRegressor(random_state=0).fit(X, y)), 5.0, "s CPU")
        X, y = make_friedman1(10_000, n_features=20, noise=1.0, random_state=0)
        model = RuleFitRegressor(random_state=0)
        yield Row("fit n=10,000 x 20, 2,000 rules", cpu(lambda: model.fit(X, y)), 10.0, "s CPU")
        some = model.with_n_terms(200)
        many = np.concatenate([X, X])
        best = min(cpu(lambda: some.predict(many)) for _ in range(5))
        yield Row("predict 20,000 rows", best * 1000, 50, "ms CPU", f"{len(some.ruleset_)} terms")


@measurement
def rulefit_reference() -> Iterator[Row]:
    """Friedman & Popescu's own example (section 9.1): which features act together, found by the exact H-statistics of a RuleFit."""
    import numpy as np
    import pandas as pd

    from pdp_widgets import Explainer, RuleFitRegressor

    rng = np.random.default_rng(0)
    n = 5000
    X = np.concatenate([rng.integers(0, 10, (n, 35)) / 9, rng.integers(0, 2, (n, 65))], axis=1)
    truth = (
        9 * np.exp(-3 * np.square(1 - X[:, :3])).prod(axis=1)
        - 0.8 * np.exp(-2 * (X[:, 3] - X[:, 4]))
        + 2 * np.sin(np.pi * X[:, 5]) ** 2
        - 2.5 * (X[:, 6] - X[:, 7])
    )
    y = truth + rng.normal(0, truth.std() / 2, n)
    frame = pd.DataFrame(X, columns=[f"x{k + 1}" for k in range(100)])
    start = time.process_time()
    model = RuleFitRegressor(random_state=0).fit(frame, y)
    seconds = time.process_time() - start
    explainer = Explainer(model, frame)
    found = explainer.interactions([f"x{k}" for k in range(1, 21)], rows=500, progress=False)
    overall = found.overall.set_index("feature")["strength"]
    pairs = found.to_frame()
    top = {frozenset(pair) for pair in pairs[["feature_1", "feature_2"]].head(4).to_numpy().tolist()}
    expected = [frozenset(pair) for pair in (("x1", "x2"), ("x1", "x3"), ("x2", "x3"), ("x4", "x5"))]
    yield Row(
        "planted pairs among the four strongest",
        float(sum(pair in top for pair in expected)),
        4,
        "",
        f"fit {seconds:.1f} s CPU, {explainer.method}",
        least=True,
    )
    acting = [f"x{k}" for k in range(1, 6)]
    weakest, strongest_other = overall[acting].min(), overall.drop(acting).max()
    yield Row(
        "overall H of x1-x5 above all others",
        weakest / strongest_other,
        1.0,
        "",
        f"{weakest:.3f} against {strongest_other:.3f}",
        least=True,
    )
    triple = explainer.interaction("x1", "x2", "x3", rows=500)
    yield Row("three-way x1, x2, x3: share of the joint effect", float(triple.h2[0]), 0.01, "", least=True)
    correlation = float(np.corrcoef(model.predict(frame), truth)[0, 1])
    yield Row("correlation with the truth", correlation, 0.95, "", least=True)
