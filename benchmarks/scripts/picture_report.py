"""A picture of the top of a report, for the README: picture_report.py REPORT.html OUT.png.

Needs what `make browser` installs. The README's is of the demo: after `make demo`,
picture_report.py demo/wide.run/report.html docs/figures/report.png
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

report, out = (Path(argument).resolve() for argument in sys.argv[1:])
with sync_playwright() as machinery:
    browser = machinery.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1240, "height": 900}, color_scheme="light")
    page.goto(report.as_uri())
    scores = page.locator("#scores .pair").bounding_box()
    assert scores is not None
    height = scores["y"] + scores["height"] + 24
    page.screenshot(path=out, full_page=True, clip={"x": 0, "y": 0, "width": 1240, "height": height})
    browser.close()
