"""Response: any model as a function from rows to (n_outputs, n) numbers.

It settles once which method of the model is asked, on which scale the answer stands, and what the
outputs are called; class labels become text here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .errors import InputError, PredictionError, unknown_name

SCALES = ("auto", "probability", "decision", "logit", "predict")


class Response:
    """What is explained: ``response(rows)`` is a float64 array of shape (n_outputs, n).

    Parameters
    ----------
    model : estimator, pipeline, ``xgboost.Booster``, ``lightgbm.Booster`` or callable
        Anything with ``predict_proba``, ``decision_function`` or ``predict``, or a function of X.
    response : {"auto", "probability", "decision", "logit", "predict"} or callable
        The scale. ``"auto"``: class probabilities for classifiers that have them, else decision
        values, else the prediction. ``"logit"``: log-odds of the class probabilities. A callable
        ``f(model, X)`` answers itself.
    output_names : sequence of str, optional
        Names of the outputs, in the model's order.

    Raises
    ------
    InputError
        When the model offers no such response.
    """

    def __init__(
        self,
        model: Any,
        response: str | Callable[[Any, Any], Any] = "auto",
        output_names: Sequence[Any] | None = None,
    ) -> None:
        self.model = model
        self.given = response
        """What was asked for, to ask the same of another model."""
        self._ask, self.scale = _choose(model, response)
        self._given_names = None if output_names is None else [str(name) for name in output_names]
        self._logit = response == "logit"
        self.outputs: list[str] = []
        self.raw_labels: list[Any] = []
        """The model's own class labels, empty when outputs are no classes."""

    def __call__(self, rows: Any, n_rows: int) -> np.ndarray:
        """Return the response at ``rows``.

        Returns
        -------
        (n_outputs, n_rows) float64 array

        Raises
        ------
        PredictionError
            With the model's own complaint, or when the answer has not one number per row.
        """
        try:
            answer = self._ask(rows)
        except Exception as error:
            raise PredictionError(
                f"{model_name(self.model)} failed on {n_rows} rows: {type(error).__name__}: {error}"
            ) from error
        classes = self._classes()
        labels: list[Any] | None
        if self.scale == "predicted class" and classes is not None and np.ndim(answer) == 1:
            values, labels = _one_hot(np.asarray(answer), classes), classes
        else:
            values, labels = _as_outputs(answer, n_rows, classes)
        if self.scale == "decision value" and len(values) == 1 and classes and len(classes) == 2:
            labels = [classes[1]]  # the value speaks for the second class
        if self._logit:
            values = _log_odds(values)
        if not self.outputs:
            self._name_outputs(len(values), labels)
        elif len(values) != len(self.outputs):
            raise PredictionError(
                f"{model_name(self.model)} answered with {len(values)} outputs, after {len(self.outputs)} before"
            )
        return values

    def position(self, output: Any) -> int:
        """Return the index of an output given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        return find_output(output, self.outputs, self.raw_labels)

    @property
    def default_output(self) -> str:
        """Return the positive class of a binary classifier, else the first output."""
        return self.outputs[1] if len(self.outputs) == 2 and self.raw_labels else self.outputs[0]

    @property
    def asks(self) -> str | None:
        """Return the name of the model's method that is asked, None when the caller's own function is."""
        if isinstance(self._ask, _Method):
            return self._ask.name
        return "predict" if isinstance(self._ask, _XGBoostBooster) else None

    def _classes(self) -> list[Any] | None:
        classes = getattr(self.model, "classes_", None)
        if classes is None:
            return None
        if isinstance(classes, list) and classes and np.ndim(classes[0]) == 1:
            return [list(per_target) for per_target in classes]
        return list(np.asarray(classes).tolist()) if np.ndim(classes) == 1 else None

    def _name_outputs(self, n_outputs: int, labels: list[Any] | None) -> None:
        if self._given_names is not None:
            if len(self._given_names) != n_outputs:
                raise InputError(f"output_names has {len(self._given_names)} names; the model has {n_outputs} outputs")
            if len(set(self._given_names)) < n_outputs:
                raise InputError(f"output_names={self._given_names} names two outputs alike")
            self.outputs = self._given_names
            self.raw_labels = labels or []
        elif labels is not None and len(labels) == n_outputs:
            texts = [str(label) for label in labels]
            if len(set(texts)) != len(texts):
                texts = [f"{text} #{k}" for k, text in enumerate(texts)]
            self.outputs = texts
            self.raw_labels = list(labels)
        elif n_outputs == 1:
            self.outputs = ["prediction"]
        else:
            self.outputs = [f"output {k}" for k in range(n_outputs)]


def model_name(model: Any) -> str:
    """Return a short name of the model: its class, the last step of a pipeline, the function."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        return f"{type(model).__name__}({type(steps[-1][-1]).__name__})"
    return getattr(model, "__name__", None) or type(model).__name__


def _choose(model: Any, response: Any) -> tuple[Callable[[Any], Any], str]:
    """Return the function to ask and the name of the scale it answers on."""
    if callable(response):
        name = getattr(response, "__name__", "custom")
        return _Bound(response, model), "custom" if name == "<lambda>" else name
    if response not in SCALES:
        raise unknown_name("response", response, SCALES, "a response scale")
    booster = _native_booster(model)
    if booster is not None:
        return booster, "prediction"
    classifier = _is_classifier(model)
    has = {name: callable(getattr(model, name, None)) for name in ("predict_proba", "decision_function", "predict")}
    if response == "auto":
        if classifier and has["predict_proba"]:
            response = "probability"
        elif classifier and has["decision_function"]:
            response = "decision"
        else:
            response = "predict"
    if response in ("probability", "logit"):
        if not has["predict_proba"]:
            raise InputError(
                f"response={response!r}, but {model_name(model)} has no predict_proba; "
                "use response='decision' or response='predict'"
            )
        return _Method(model, "predict_proba"), "probability" if response == "probability" else "log-odds"
    if response == "decision":
        if not has["decision_function"]:
            raise InputError(f"response='decision', but {model_name(model)} has no decision_function")
        return _Method(model, "decision_function"), "decision value"
    if has["predict"]:
        if classifier:
            return _Method(model, "predict"), "predicted class"
        return _Method(model, "predict"), "prediction"
    if callable(model):
        return model, "prediction"
    raise InputError(
        f"model is a {type(model).__name__} with no predict_proba, decision_function or predict, and "
        "is not callable; hand over a fitted estimator or a function of X"
    )


class _Method:
    """A bound model method that pickles with the model (a lambda would not)."""

    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name
        quiet = type(model).__module__.split(".")[0] in ("keras", "tensorflow", "tf_keras")
        self.options = {"verbose": 0} if quiet else {}

    def __call__(self, rows: Any) -> Any:
        return getattr(self.model, self.name)(rows, **self.options)


class _Bound:
    """The caller's ``f(model, X)`` as a function of X."""

    def __init__(self, function: Callable[[Any, Any], Any], model: Any) -> None:
        self.function, self.model = function, model

    def __call__(self, rows: Any) -> Any:
        return self.function(self.model, rows)


class _XGBoostBooster:
    """``xgboost.Booster.predict`` wants a DMatrix."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def __call__(self, rows: Any) -> Any:
        import xgboost

        names = None if hasattr(rows, "columns") else self.booster.feature_names
        return self.booster.predict(xgboost.DMatrix(rows, feature_names=names, enable_categorical=True))


def _native_booster(model: Any) -> Callable[[Any], Any] | None:
    if type(model).__name__ == "Booster" and type(model).__module__.startswith("xgboost"):
        return _XGBoostBooster(model)
    return None


def _is_classifier(model: Any) -> bool:
    if callable(getattr(model, "predict_proba", None)):
        return True
    if not hasattr(model, "__sklearn_tags__"):
        return False
    from sklearn.base import is_classifier  # a second to load, which models without tags never ask for

    return bool(is_classifier(model))


def _as_outputs(answer: Any, n_rows: int, classes: list[Any] | None) -> tuple[np.ndarray, list[Any] | None]:
    """Return the model's answer as (n_outputs, n_rows) float64 and the labels it suggests."""
    if isinstance(answer, list) and answer and all(np.ndim(part) == 2 for part in answer):
        parts = [np.asarray(part, dtype=float).T for part in answer]  # predict_proba, several targets
        names = [
            f"output {t}: {classes[t][k] if classes and len(classes) == len(parts) else k}"
            for t, part in enumerate(parts)
            for k in range(len(part))
        ]
        return _checked(np.concatenate(parts), n_rows), names
    labels: list[Any] | None = None
    if hasattr(answer, "columns") and not callable(answer.columns):
        labels = list(answer.columns)
    if hasattr(answer, "toarray"):
        answer = answer.toarray()
    elif hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    elif isinstance(answer, (pd.Series, pd.DataFrame)) and _numeric(answer):
        answer = answer.to_numpy(dtype=float, na_value=np.nan)
    if isinstance(answer, np.ma.MaskedArray):
        answer = np.ma.filled(answer.astype(float), np.nan)
    raw = np.asarray(answer)
    if raw.dtype == bool:
        raw = raw.astype(float)
    try:
        values = np.asarray(raw, dtype=float)
    except (TypeError, ValueError) as error:
        raise PredictionError(
            f"the model answered with {raw.dtype} values, not numbers ({error}); hand over a function "
            "of X that returns numbers or probabilities"
        ) from error
    if values.ndim == 2 and values.shape[0] == n_rows:
        values = values.T
        values = values.reshape(values.shape[0], n_rows)
    elif values.ndim == 1 and len(values) == n_rows:
        values = values[None, :]
    elif values.size == n_rows:
        values = values.reshape(1, n_rows)
    elif values.ndim == 1 and n_rows == 1:  # several outputs of the only row, squeezed
        values = values[:, None]
    elif values.ndim > 2 and values.shape[0] == n_rows:
        values = values.reshape(n_rows, -1).T
    values = _checked(values, n_rows)
    if labels is None and classes is not None and len(classes) == len(values) and len(values) > 1:
        labels = classes
    return values, labels


def _checked(values: np.ndarray, n_rows: int) -> np.ndarray:
    if values.ndim != 2 or values.shape[1] != n_rows:
        raise PredictionError(
            f"the model answered {n_rows} rows with an array of shape {values.shape}; "
            "expected one value, or one row of values, per row"
        )
    return np.ascontiguousarray(values)


def _numeric(answer: pd.Series | pd.DataFrame) -> bool:
    dtypes = [answer.dtype] if isinstance(answer, pd.Series) else list(answer.dtypes)
    return all(pd.api.types.is_numeric_dtype(dtype) for dtype in dtypes)


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).tiny
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(probabilities, tiny)) - np.log(np.maximum(1 - probabilities, tiny))


def _one_hot(labels: np.ndarray, classes: list[Any]) -> np.ndarray:
    """Return predicted class labels as one 0/1 output per class: its mean is a share of rows."""
    return np.array([labels == label for label in classes], dtype=float)


def find_output(output: Any, names: Sequence[str], labels: Sequence[Any]) -> int:
    """Return the position of an output given by its name, its class label, or its position, in this order.

    Where class labels are numbers themselves, a number is a label and never a position.

    Raises
    ------
    InputError
        When there is no such output.
    """
    if isinstance(output, str) and output in names:
        return list(names).index(output)
    for k, label in enumerate(labels):
        if _same(label, output):
            return k
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool):
        if any(_is_number(label) for label in labels):
            shown = ", ".join(map(str, labels[:8])) + (", ..." if len(labels) > 8 else "")
            raise InputError(f"output {output!r} is none of the class labels of the model's outputs: {shown}")
        if 0 <= output < len(names):
            return int(output)
    raise unknown_name("output", output, names, "an output of the model")


def _same(label: Any, given: Any) -> bool:
    """Compare class labels: numbers by value (1 is 1.0), but 1 is neither True nor "1"."""
    label, given = (v.item() if isinstance(v, np.generic) else v for v in (label, given))
    numeric = _is_number(label) and _is_number(given)
    return bool((numeric or type(label) is type(given)) and label == given)


def _is_number(value: Any) -> bool:
    value = value.item() if isinstance(value, np.generic) else value
    return isinstance(value, (int, float)) and not isinstance(value, bool)
