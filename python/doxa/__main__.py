"""``python -m doxa``: the same as the command ``doxa``."""

from doxa.cli import main

if __name__ == "__main__":
    main()
