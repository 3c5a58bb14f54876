"""Where compiled loops let other threads run.

The interpreter hands its lock to another thread only between steps of interpreted code. A loop that mypyc has compiled
has none, and would hold everybody up for as long as it takes. So it calls this function now and then (about every half
millisecond of work), and this module is never compiled (docs/designs/compiled.md).
"""


def give_way() -> None:
    """Lets another thread have its turn, if one waits."""
