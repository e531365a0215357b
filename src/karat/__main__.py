"""``python -m karat`` is the command line."""

from karat.cli import main

# Not where a process that was started for other work imports it again.
if __name__ == "__main__":
    main()
