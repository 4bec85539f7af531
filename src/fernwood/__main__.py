"""``python -m fernwood`` is the command ``fernwood``, where nothing could be installed."""

from fernwood.cli import main

main()
