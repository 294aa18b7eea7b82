"""What the tests of exact trees share: tables, targets, rows around thresholds, and the comparison with the model."""

import numpy as np

from pdp_widgets.inputs.response import Response
from pdp_widgets.trees.reading import read

SCALES = {"predict": "predict", "predict_proba": "probability", "decision_function": "decision"}


def own_answer(model, method, rows):
    return Response(model, SCALES[method])(rows, len(rows) if hasattr(rows, "columns") else rows.shape[0])


def methods_of(model):
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return [name for name in ("predict_proba", "decision_function") if hasattr(model, name)]
    return ["predict"]


def edges(ensemble, rows, seed, *, missing=False, infinite=False):
    """Return rows with cells at thresholds and at their neighbours of either precision."""
    inner = ensemble.left >= 0
    marks = ensemble.threshold[inner]
    marks = np.concatenate([marks[np.isfinite(marks)], [0.0, -0.0]])
    near = marks.astype(np.float32)
    up, down = np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))
    halfway = (near.astype(float) + up) / 2  # rounds to even as float32
    values = [marks, np.nextafter(marks, np.inf), np.nextafter(marks, -np.inf), near, up, down]
    values += [halfway, np.nextafter(halfway, np.inf), np.nextafter(halfway, -np.inf)]
    values += [np.full(len(marks), v) for v in [np.nan] * missing + [np.inf, -np.inf] * infinite]
    rng = np.random.default_rng(seed)
    out = rows[rng.integers(len(rows), size=600)].copy()
    swap = rng.random(out.shape) < 0.7
    out[swap] = rng.choice(np.concatenate(values), swap.sum())
    return out


def assert_read(model, rows, *, methods=None, exact=False):
    for method in methods or methods_of(model):
        reading = read(model, method)
        encoded = reading.encode(rows)
        assert encoded.dtype == float
        assert np.array_equal(encoded, reading.ensemble.rounded(encoded), equal_nan=True)
        read_answer = reading.link.apply(reading.ensemble.predict(encoded))
        answer = own_answer(model, method, rows)
        assert read_answer.shape == answer.shape
        scale = np.abs(answer).max()
        if reading.link.linear:  # a sum rounds relative to its terms, which may cancel
            scale = max(scale, np.abs(reading.ensemble.value).max())
        tolerance = 0 if exact else 1e-12 * scale
        np.testing.assert_allclose(read_answer, answer, rtol=0, atol=tolerance)


def table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, 6, n) / 3, rng.normal(size=n), rng.choice([0.1, 0.2, 0.3], n)])


def targets(kind, X, seed=0):
    """Return a target that depends on X, by its kind."""
    signal = np.nan_to_num(X[:, 0] + np.sin(3 * X[:, 1]) + 10 * X[:, 2])
    signal = signal + np.random.default_rng(seed).normal(scale=0.3, size=len(X))
    ranks = np.argsort(np.argsort(signal)) * 3 // len(X)
    three = np.array(["low", "mid", "top"])[ranks]
    return {
        "number": signal,
        "positive": np.exp(signal / 5),
        "numbers": np.column_stack([signal, np.sqrt(np.abs(signal))]),
        "two": np.array(["no", "yes"])[(ranks > 0).astype(int)],
        "three": three,
        "several": np.column_stack([three, np.where(X[:, 2] > 0.15, "a", "b")]),
        "none": None,
        "constant": np.full(len(X), 2.5),
        "one": np.full(len(X), "only"),
    }[kind]


def fit(model, target="number"):
    X = table()
    return model.fit(X, targets(target, X))
