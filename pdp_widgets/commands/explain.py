"""`explain`: a model file and a table become one interactive page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["add", "load_model", "read_table", "run", "split"]


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help="write an interactive page about a model of yours",
        description="Write one interactive page about a fitted model: partial dependence and ICE curves, importance, interactions and rules. "
        "It opens in any browser, without Jupyter, Python or the internet.",
        epilog="Files of joblib and pickle run whatever code is in them when they are opened: give only files that you trust. Files of skops hold "
        "no code. The page contains predictions and values of up to 500 rows of DATA: think before you share it.",
    )
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="the fitted model: .joblib, .pkl or .pickle, or .skops (needs skops)"
    )
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="the rows to average over: .csv or .parquet (needs pyarrow)"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", required=True, help="the page to write")
    parser.add_argument(
        "--target", metavar="COLUMN", help="the column of DATA that holds the outcome; it is no feature"
    )
    parser.add_argument(
        "--weight", metavar="COLUMN", help="the column of DATA that holds row weights; it is no feature"
    )
    parser.add_argument("--output", metavar="NAME", help="the output to show first: a class label or its position")
    parser.add_argument("--feature", metavar="COLUMN", help="the feature to show first (default: the most important)")
    parser.add_argument("--rows", type=int, metavar="N", help="use a random sample of N rows")
    parser.add_argument("--title", metavar="TEXT", help="the title of the page")
    parser.add_argument(
        "--trust",
        metavar="TYPE",
        action="append",
        default=[],
        help="a type that a .skops file may contain beyond those known to be harmless; may be repeated",
    )
    return parser


def run(given: argparse.Namespace) -> int:
    """Load, explain, write."""
    from pdp_widgets import PDPWidget

    table = read_table(given.data)
    model = load_model(given.model, given.trust)
    X, y, weight = split(table, model, given.target, given.weight)
    left_out = [
        str(name) for name in table.columns if name not in X.columns and name not in (given.target, given.weight)
    ]
    if left_out:
        print(f"not among the model's features, left out: {', '.join(left_out)}", file=sys.stderr)
    options: dict[str, Any] = {"feature": given.feature, "output": _output(given.output), "background": given.rows}
    options = {name: value for name, value in options.items() if value is not None}
    widget = PDPWidget(model, X, y, sample_weight=weight, **options)
    try:
        print(f"computing: {widget!r}", file=sys.stderr, flush=True)
        given.html.parent.mkdir(parents=True, exist_ok=True)
        widget.export_html(given.html, title=given.title, timeout=None)
    finally:
        widget.close()
    print(f"wrote {given.html} ({given.html.stat().st_size / 1e6:.1f} MB): open it in any browser")
    return 0


def read_table(path: Path) -> pd.DataFrame:
    """Read the rows.

    Raises
    ------
    InputError
        For another kind of file, or one that cannot be read.
    """
    import pandas as pd

    if not path.is_file():
        raise InputError(f"DATA: there is no file {path}")
    ending = "".join(path.suffixes[-2:]).lower()
    try:
        if ending.endswith((".parquet", ".pq")):
            return pd.read_parquet(path)
        if ending.endswith((".csv", ".csv.gz")):
            return pd.read_csv(path)
    except ImportError:
        raise InputError(f"DATA: {path} needs pyarrow, which is not installed: python -m pip install pyarrow") from None
    except Exception as error:  # noqa: BLE001  # a file can fail in any way
        raise InputError(f"DATA: {path} cannot be read: {type(error).__name__}: {error}") from None
    raise InputError(f"DATA: {path} is neither a .csv nor a .parquet file")


def load_model(path: Path, trusted: list[str]) -> Any:
    """Load the model, with a word of warning where that may run code.

    Raises
    ------
    InputError
        For another kind of file, one that cannot be loaded, or a .skops file with types that are not trusted.
    """
    if not path.is_file():
        raise InputError(f"MODEL: there is no file {path}")
    ending = path.suffix.lower()
    if ending == ".skops":
        return _load_skops(path, trusted)
    if ending not in (".joblib", ".pkl", ".pickle"):
        raise InputError(f"MODEL: {path} is none of .joblib, .pkl, .pickle and .skops")
    import joblib

    print(
        f"warning: opening {path} runs whatever code is in it; open only files that you trust (.skops files hold no code)",
        file=sys.stderr,
    )
    try:
        return joblib.load(path)
    except ModuleNotFoundError as error:
        raise InputError(f"MODEL: {path} needs the module {error.name!r}, which is not installed here") from None
    except Exception as error:  # noqa: BLE001  # a file can fail in any way
        raise InputError(f"MODEL: {path} cannot be loaded: {type(error).__name__}: {error}") from None


def _load_skops(path: Path, trusted: list[str]) -> Any:
    try:
        import skops.io
    except ImportError:
        raise InputError(f"MODEL: {path} needs skops, which is not installed: python -m pip install skops") from None
    try:
        unknown = sorted(set(skops.io.get_untrusted_types(file=path)) - set(trusted))
        if not unknown:
            return skops.io.load(path, trusted=trusted)
    except Exception as error:  # noqa: BLE001  # a file can fail in any way
        raise InputError(f"MODEL: {path} cannot be loaded: {type(error).__name__}: {error}") from None
    options = " ".join(f"--trust {name}" for name in unknown)
    raise InputError(
        f"MODEL: {path} contains types that are not known to be harmless; if you trust them, add: {options}"
    )


def split(table: pd.DataFrame, model: Any, target: str | None, weight: str | None) -> tuple[pd.DataFrame, Any, Any]:
    """Return the model's features, the outcome and the weights.

    Raises
    ------
    InputError
        For a column that is not there.
    """
    for name in (target, weight):
        if name is not None and name not in table.columns:
            raise unknown_name("column", name, map(str, table.columns), "a column of DATA")
    X = table.drop(columns=[name for name in (target, weight) if name is not None])
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise InputError(f"DATA lacks columns that the model was fitted to: {', '.join(map(str, missing))}")
        X = X[list(names)]
    return X, None if target is None else table[target], None if weight is None else table[weight]


def _output(given: str | None) -> Any:
    """Return a position as a number: on a command line everything is text."""
    return int(given) if given is not None and given.isdecimal() else given
