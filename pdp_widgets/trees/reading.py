"""read: a fitted estimator as a sum of trees, or the reason why it is none.

It finds the library that the estimator comes from and asks that library's reader; no library is imported that the
estimator does not come from. An estimator of any other origin may read itself: its class then has a method

    _as_trees(method: str) -> Reading

that answers for this one instance what ``read`` answers, and raises ``UnreadableError`` where it cannot. It belongs into the class that
has ``predict``: a subclass that redefines what an answer may rest on is refused, unless it brings a method of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .ensemble import TreeEnsemble, UnreadableError

if TYPE_CHECKING:
    import numpy as np

    from .links import Link

_LIBRARIES = ("sklearn", "xgboost", "lightgbm", "catboost")

_HARMLESS = {
    "fit",
    "partial_fit",
    "score",
    "get_params",
    "feature_importances_",
    "_parameter_constraints",
    "_get_param_names",
    "_estimator_type",
    "_abc_impl",
    "_sklearn_auto_wrap_output_keys",
}
"""What a subclass may redefine without changing what a fitted estimator answers."""

_ASKED = ("predict", "predict_proba", "decision_function")


@dataclass(frozen=True)
class Reading:
    """An estimator as a sum of trees: ``link.apply(ensemble.predict(encode(rows)))`` is what its method answers."""

    ensemble: TreeEnsemble
    link: Link
    encode: Callable[[Any], np.ndarray]
    """From what the estimator itself is given (m rows, in any container) to (m, n_columns) float64: category codes as
    numbers, NaN where missing, rounded to ``ensemble.precision``. A picklable, pure function; it raises
    ``UnreadableError`` for rows that it cannot represent."""
    family: str
    """The class of the estimator, to be shown to the user."""


def read(estimator: Any, method: str) -> Reading:
    """Return an estimator as a sum of trees.

    Parameters
    ----------
    estimator : fitted estimator or booster
        The last step, without pipelines and searches around it.
    method : {"predict", "predict_proba", "decision_function"}
        The method that is explained ("predict" of a booster).

    Returns
    -------
    Reading
        Its outputs have the order and meaning that ``Response`` gives to the method's answer.

    Raises
    ------
    UnreadableError
        When the estimator's answer is not known to be a sum of trees, with the reason.
    """
    reader = _reader(home_class(estimator))
    try:
        return reader(estimator, method)
    except UnreadableError:
        raise
    except Exception as error:
        # Readers rest on attributes that another release of the library may not have.
        raise UnreadableError(
            f"the trees of {type(estimator).__name__} could not be read ({type(error).__name__}: {error})"
        ) from error


def require_trees(estimator: Any) -> None:
    """Raise unless there is a reader for the estimator; nothing is read yet.

    Raises
    ------
    UnreadableError
        With the reason.
    """
    home = home_class(estimator)
    if not _reads_itself(home) and _library(home) == "sklearn":
        from .readers import require_reader

        require_reader(home)


def home_class(estimator: Any) -> type:
    """Return the class that knows how an estimator is read: its own, or the one that its own leaves unchanged.

    Raises
    ------
    UnreadableError
        When it neither comes from a known library nor reads itself, or a subclass or the instance redefines what an answer
        may rest on.
    """
    name, ancestry = type(estimator).__name__, type(estimator).__mro__
    home = next((kind for kind in ancestry if _reads_itself(kind) or _library(kind) in _LIBRARIES), None)
    if home is None:
        if not isinstance(estimator, type) and hasattr(estimator, "__name__"):
            raise UnreadableError(f"{estimator.__name__} is a function, into which one cannot see")
        raise UnreadableError(f"{name} is not a sum of trees")
    own = _redefined(estimator, home)
    if own:
        raise UnreadableError(f"{name} has its own {', '.join(own)}, which may differ from that of {home.__name__}")
    return home


def _reads_itself(kind: type) -> bool:
    return "_as_trees" in vars(kind)


def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _reader(home: type) -> Callable[[Any, str], Reading]:
    if _reads_itself(home):
        return lambda estimator, method: estimator._as_trees(method)  # noqa: SLF001 - the protocol
    library = _library(home)
    if library == "sklearn":
        from .readers import read_sklearn

        return read_sklearn
    if library == "xgboost":
        from .boosters import read_xgboost

        return read_xgboost
    if library == "lightgbm":
        from .boosters import read_lightgbm

        return read_lightgbm
    from .catboost import read_catboost

    return read_catboost


def _redefined(estimator: Any, home: type) -> list[str]:
    """Return what the user's own subclass, or the instance, defines anew of what an answer may rest on."""
    kinds = type(estimator).__mro__
    names = {name for kind in kinds[: kinds.index(home)] for name in vars(kind) if hasattr(home, name)}
    # scikit-learn itself lays set_..._request methods into every subclass.
    names = {name for name in names - _HARMLESS if not name.startswith(("set_", "__"))}
    return sorted(names | set(_ASKED).intersection(getattr(estimator, "__dict__", ())))
