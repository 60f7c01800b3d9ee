"""What demo.py and startup.py share: a table for people, and the end by an error line."""
import os
import sys


def table(header, rows):
    """The rows under the header as text, the first column flush left, the others flush right."""
    lines = [[str(cell) for cell in line] for line in [header, *rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(line[1:], widths[1:])])
        for line in lines)


def die(message):
    """Leave with status 1 and one line on stderr."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def need_program(path, what):
    """The absolute path of a built program, or the end by an error line that says how to get it."""
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        die(f"{what} {path!r} is not there or not executable: build it first (contrib/dev build)")
    return os.path.abspath(path)
