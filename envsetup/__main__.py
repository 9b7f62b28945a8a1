"""``python -m envsetup`` is the same as the ``envsetup`` command."""

from envsetup.cli import main

if __name__ == "__main__":
    main()
