"""So that both `python3 testing/mock_server` and `python3 -m mock_server` start it."""
import pathlib
import sys

if not __package__:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server.cli import main  # noqa: E402

sys.exit(main())
