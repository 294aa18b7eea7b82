"""How the page's code travels: packed, because every widget carries it, also into each saved notebook.

The code is a module of its own; what travels is a few lines that unpack it in the browser and hand on what it exports. ``view`` is also left
where parts in other cells find it (``part``) in hosts that do not hand on a widget's code.
"""

from __future__ import annotations

import base64
import gzip
from functools import lru_cache

__all__ = ["packed"]

_LOADER = """\
const packed = "{packed}";
const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const code = await new Response(stream).blob();
const url = URL.createObjectURL(new Blob([code], {{ type: "text/javascript" }}));
const module = await import(url);
URL.revokeObjectURL(url);
export default module.default;
export const mount = module.mount;
export const view = module.view;
globalThis[Symbol.for("pdp_widgets.view")] = view;
"""


@lru_cache(maxsize=2)
def packed(code: str) -> str:
    """Return a module that unpacks ``code`` and exports what it exports (``default``, ``mount`` and ``view``).

    The same code gives the same text. Browsers unpack it since Chrome 80, Firefox 113 and Safari 16.4.
    """
    letters = base64.b64encode(gzip.compress(code.encode("utf-8"), compresslevel=9, mtime=0)).decode("ascii")
    return _LOADER.format(packed=letters)
