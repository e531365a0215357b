"""The program ``karat``, also as ``python -m karat``."""

import gc


def main() -> None:
    """Run the command line.

    Imports make many objects and hardly any garbage: the search for it, a tenth of the time of
    `karat score`, starts when the command is loaded.
    """
    gc.disable()
    from karat.cli import main as run

    run()


# Not where a process that was started for other work imports it again.
if __name__ == "__main__":
    main()
