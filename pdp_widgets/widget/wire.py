"""How numbers travel to the page: arrays as ``{view, dtype, shape}``, scalars safe for JSON."""

from __future__ import annotations

import base64
import math
from typing import Any, Literal

import numpy as np

__all__ = ["offset", "pack", "scalar", "to_base64", "unpack"]

Dtype = Literal["float32", "float64", "int32", "uint8"]


def pack(values: Any, dtype: Dtype = "float64") -> dict[str, Any]:
    """Return an array as raw bytes with its dtype and shape (little-endian, C order)."""
    if dtype == "float32":  # what it cannot hold is not drawn
        values = np.where(np.abs(values) > np.finfo(np.float32).max, np.nan, values)
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"view": array.tobytes(), "dtype": dtype, "shape": list(array.shape)}


def unpack(packed: dict[str, Any]) -> np.ndarray:
    """Return the array that was packed."""
    dtype = np.dtype(packed["dtype"]).newbyteorder("<")
    return np.frombuffer(packed["view"], dtype).reshape(packed["shape"])


def scalar(value: Any) -> float | None:
    """Return a float, or None (null) for what is unknown: JSON has no NaN."""
    if value is None:
        return None
    value = float(value)
    return value if math.isfinite(value) else None


def offset(values: np.ndarray) -> float:
    """Return a number to take off before values become float32, so that 1e9 +- 1 keeps its digits."""
    finite = values[np.isfinite(values)]
    return float((finite / finite.size).sum()) if finite.size else 0.0


def to_base64(value: Any) -> Any:
    """Return the same traits with packed arrays as text (``{b64, dtype, shape}``), for a recorded page."""
    if isinstance(value, dict):
        if "view" in value:
            text = base64.b64encode(value["view"]).decode("ascii")
            return {"b64": text, "dtype": value["dtype"], "shape": value["shape"]}
        return {key: to_base64(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_base64(item) for item in value]
    return value
