"""The windows of VS Code: pages of a headless Chromium, one for each workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["CHROMIUM", "Windows", "chromium"]

CHROMIUM = Path("/usr/bin/chromium")
# Types of playwright, which is no dependency of the project.
BrowserContext = Any
Page = Any
_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_WORKBENCH = ".monaco-workbench"
_SECONDS = 60
_PREPARED_SECONDS = 20
_STORE = """
  const open = indexedDB.open("vscode-web-state-db-global");
  const database = await new Promise((done, failed) => {
    open.onsuccess = () => done(open.result);
    open.onerror = () => failed(open.error);
  });
  const key = "extensionsIdentifiers/disabled";
"""
_IS_DISABLED = f"""async () => {{
  {_STORE}
  const entry = database.transaction("ItemTable").objectStore("ItemTable").get(key);
  const value = await new Promise((done) => {{ entry.onsuccess = () => done(entry.result); }});
  database.close();
  return value !== undefined;
}}"""
_CONSENTS = ("chat.tools.global.autoApprove.optIn", "chat.tools.terminal.autoApprove.warningAccepted")
_ENABLE = f"""async (consents) => {{
  {_STORE}
  const change = database.transaction("ItemTable", "readwrite");
  change.objectStore("ItemTable").delete(key);
  for (const consent of consents) change.objectStore("ItemTable").put("true", consent);
  await new Promise((done) => {{ change.oncomplete = done; }});
  database.close();
}}"""


class Windows:
    """Opens one page for each workspace, and brings it to the front when it is asked for again."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self._context = context
        self._address = address
        self._first = context.new_page()
        self._pages: dict[Path, Page] = {}

    @property
    def workspaces(self) -> list[Path]:
        """The workspaces that are open."""
        return list(self._pages)

    def prepare(self) -> None:
        """Switch the chat on: a new profile has its extension disabled until somebody signs in.

        That is noted in the browser's database, some seconds after the first window opens, and can only be changed
        while no window is open. So is the consent to run tools unasked: the settings alone do not suffice.
        """
        self._go(self._first, "/?ew=true")
        for _ in range(_PREPARED_SECONDS * 4):
            if self._first.evaluate(_IS_DISABLED):
                break
            self.rest(0.25)
        self._first.goto(f"{self._address}/healthz")
        self._first.evaluate(_ENABLE, list(_CONSENTS))

    def open(self, workspace: Path) -> None:
        """Open the workspace, or focus its window."""
        if workspace not in self._pages:
            page = self._context.new_page()
            self._go(page, f"/?workspace={quote(str(workspace))}")
            self._pages[workspace] = page
        self._pages[workspace].bring_to_front()

    def rest(self, seconds: float) -> None:
        """Wait, and let the browser be heard meanwhile."""
        self._first.wait_for_timeout(seconds * 1000)

    def pictures(self, folder: Path) -> None:
        """Save what each window shows, for whoever must find out why it does not answer."""
        for workspace, page in self._pages.items():
            page.screenshot(path=folder / f"{workspace.stem}.png")

    def _go(self, page: Page, path: str) -> None:
        page.goto(self._address + path)
        page.wait_for_selector(_WORKBENCH, timeout=_SECONDS * 1000)


@contextmanager
def chromium() -> Iterator[BrowserContext]:
    """A headless Chromium with a new profile."""
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_OPTIONS))
        try:
            yield browser.new_context(viewport={"width": 1400, "height": 900})
        finally:
            browser.close()
