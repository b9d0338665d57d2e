"""``python -m tallystick`` is ``tally``."""

from tallystick.cli import main

main()
