"""The catalogue that ships, read once for all files of tests that have a test for each tool."""

from pathlib import Path

from pulsus import bootstrap

APP = bootstrap.build(Path(__file__).parents[1], {"cache_enabled": False})
TOOLS = APP.catalogue.tools
