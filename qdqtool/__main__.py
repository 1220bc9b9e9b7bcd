"""``python -m qdqtool`` is the same as ``qdqtool``."""

import sys

from qdqtool.cli import main

if __name__ == "__main__":
    sys.exit(main())
