"""The command line: `python -m pdp_widgets COMMAND`; what the commands do is in ``pdp_widgets.commands``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pdp_widgets import __version__
from pdp_widgets.commands import demo, explain, jupyter_config, reference
from pdp_widgets.inputs.errors import PDPWidgetsError

COMMANDS = (demo, explain, jupyter_config, reference)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return 0
    try:
        code: int = given.run(given)
    except (OSError, PDPWidgetsError) as error:
        print(f"pdp_widgets: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("pdp_widgets: stopped", file=sys.stderr)
        return 130
    return code


def make_parser() -> argparse.ArgumentParser:
    """Describe the commands and their options."""
    parser = argparse.ArgumentParser(
        prog="python -m pdp_widgets",
        description="Look inside fitted models: partial dependence and ICE curves, linked and brushable.",
        epilog="To begin with: python -m pdp_widgets demo. Options of a command: python -m pdp_widgets COMMAND --help.",
    )
    parser.add_argument("--version", action="version", version=f"pdp_widgets {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands).set_defaults(run=command.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
