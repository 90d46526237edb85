"""``python -m fullspan`` is the same as ``fullspan``."""

import sys

from fullspan.people.cli import main

if __name__ == "__main__":
    sys.exit(main())
