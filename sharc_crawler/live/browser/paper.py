"""No page is printed: a browser without a printer waits for one for ever, and its page with it.

Neither a flag nor a setting of Chromium's ends that, so a script of ours takes away what prints, before any of the
page's runs.
"""

from __future__ import annotations

WITHOUT = """{
  globalThis.print = () => {};
  const command = Document.prototype.execCommand;
  Document.prototype.execCommand = function execCommand(name, ...more) {
    return /^print$/i.test(name) ? false : command.call(this, String(name), ...more);
  };
}"""
