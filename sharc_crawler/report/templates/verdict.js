// Beside pywb's own frame: what the certificates say of the copy that is shown, and of all that it is shown with.
// Copies are known by their own answers (Memento-Datetime), not by the time that somebody asked for.
(() => {
  const MOST = 300; // resources that are asked for
  const SHELVES = 256;
  const base = new URL("sharc-verdicts/", document.currentScript.src);
  const address = /^(.*?\/capture\/)(\d*)([a-z]{2}_)?\/(https?:\/\/.*)$/;
  const shelves = new Map();
  let captures;
  let turn = 0;

  const shelf = (url) => {
    const number = new TextEncoder().encode(url).reduce((sum, byte) => (sum + byte) % SHELVES, 0);
    if (!shelves.has(number)) {
      const lines = async () => (await (await fetch(new URL(`${number}.jsonl`, base))).text()).split("\n");
      shelves.set(number, lines());
    }
    return shelves.get(number);
  };
  const start = (url) => `[${JSON.stringify(url).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)},`;
  const said = async (url, date) => {
    const stamp = date.toISOString().replace(/\D/g, "").slice(0, 14);
    const rows = (await shelf(url)).filter((line) => line.startsWith(start(url))).map((line) => JSON.parse(line));
    const known = rows.filter((one) => captures[one[6]]);
    const read = ([, , part, verdict, grounds, subsite, number]) => ({ part, verdict, grounds, subsite, capture: captures[number] });
    const own = known.find((one) => one[1] === stamp && one[2] !== "former");
    // later captures that did not ask for the page: it was still what an answer no newer than this copy shows
    const still = known.filter((one) => one[2] === "former" && one[1] <= stamp && one[3] === "coherent").map(read);
    const later = still.filter((one) => instant(one) > time(date)).sort((a, b) => (instant(a) < instant(b) ? -1 : 1));
    return { ...(own && read(own)), later };
  };
  const copy = async (href) => {
    const found = href.match(address);
    if (!found) return null;
    const answer = await fetch(href, { method: "HEAD", redirect: "follow" }).catch(() => null);
    const date = answer && new Date(answer.headers.get("Memento-Datetime") ?? NaN);
    if (!date || isNaN(date)) return { url: found[4], missing: true, lost: await certified(found[4]) };
    const url = (answer.url.match(address) ?? found)[4].replace(/#.*$/, "");
    return { url, date, ...(await said(url, date)) };
  };
  const certified = async (url) => (await shelf(url)).some((line) => line.startsWith(start(url)));
  const windows = (one) => {
    const inner = [];
    for (let i = 0; i < one.frames.length; i++) {
      try {
        inner.push(...windows(one.frames[i]));
      } catch { /* a frame of another origin */ }
    }
    return [one, ...inner];
  };
  const embedded = (frame) => {
    const all = windows(frame).flatMap((one) => one.performance.getEntriesByType("resource").map((entry) => entry.name));
    return [...new Set(all)].filter((href) => address.test(href) && !new URL(href).pathname.startsWith("/static/"));
  };

  const time = (date) => `${date.toISOString().slice(0, 19)}Z`;
  const span = (seconds) => {
    let rest = Math.round(seconds);
    if (!rest) return "within a second";
    const parts = [];
    for (const [name, length] of [["days", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
      if (rest >= length) parts.push(`${Math.floor(rest / length)} ${name}`);
      rest %= length;
    }
    return `within ${parts.slice(0, 2).join(" ")}`;
  };
  const element = (name, properties = {}, ...children) => {
    const one = Object.assign(document.createElement(name), properties);
    one.append(...children);
    return one;
  };
  const instant = (one) => {
    const text = one.capture?.instants[one.subsite] ?? Object.values(one.capture?.instants ?? {})[0];
    return text ? `${text.slice(0, 19)}Z` : "";
  };
  const words = (one) => {
    if (!one) return ["unknown", "No copy is shown", "the page left for an address that is no copy, as about:blank"];
    if (one.lost) return ["unknown", "Its payload is not here", "a certificate speaks of this page, and the capture that holds its payload is missing: sharc verify"];
    if (one.missing) return ["unknown", "Not in the archive", ""];
    if (one.verdict === undefined) return ["unknown", "No certificate speaks of this copy", "its capture is not complete, or has none"];
    const at = instant(one);
    if (one.verdict === "coherent") return ["coherent", `Coherent at ${at}`, one.grounds];
    if (one.verdict === "kept") return ["kept", "Content kept while the site was captured", `${one.grounds}, the same content, says the report: not shown to the byte to be the state at ${at}`];
    if (one.verdict === "changed") return ["changed", "Changed while the site was captured", `${one.grounds}: not shown to be the state at ${at}`];
    if (one.verdict === "unknown") return ["unknown", at ? `Not shown to be the state at ${at}` : "Nothing shows when this was the state", one.grounds];
    return ["unknown", "Not judged", one.grounds];
  };
  const together = (page, parts) => {
    const shown = parts.filter((one) => !one.missing);
    const times = [page, ...shown].map((one) => one.date.getTime());
    const apart = (Math.max(...times) - Math.min(...times)) / 1000;
    const same = shown.filter((one) => one.verdict === "coherent" && instant(one) === instant(page)).length;
    const missing = parts.length - shown.length;
    const all = shown.length === 1 ? "1 resource" : `${shown.length} resources`;
    const lost = missing ? `; ${missing} not in the archive` : "";
    if (!shown.length) return `Shown alone${lost}.`;
    const coherent = page.verdict === "coherent" ? `, ${same === shown.length ? "all" : same} coherent at the same instant` : "";
    return `Shown with ${all}${coherent}; copies made ${span(apart)}${lost}.`;
  };

  const style = `
    :host { all: initial; position: fixed; inset: auto 0 0 0; z-index: 2147483647; color-scheme: light dark;
      --ground: #fffefb; --ink: #1d2126; --soft: #555e69; --line: #dcd9d0; --coherent: #0a6c86; --kept: #3f8f5a; --changed: #c2410c; --unknown: #77689a; }
    @media (prefers-color-scheme: dark) { :host { --ground: #1c2024; --ink: #e9e7e1; --soft: #a9b0b8; --line: #353b42;
      --coherent: #56bdd6; --kept: #7ccf95; --changed: #ff8c5a; --unknown: #b7a7e0; } }
    details { font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--ground);
      border-top: 3px solid var(--verdict); max-height: 60vh; overflow: auto; }
    .coherent { --verdict: var(--coherent); } .kept { --verdict: var(--kept); } .changed { --verdict: var(--changed); } .unknown { --verdict: var(--unknown); }
    summary { cursor: pointer; padding: 7px 14px; list-style-position: inside; }
    summary:focus-visible { outline: 2px solid var(--verdict); outline-offset: -2px; }
    b { color: var(--verdict); } b::before { content: "● "; } .kept > summary b::before { content: "○ "; } .changed > summary b::before { content: "◆ "; } .unknown > summary b::before { content: "□ "; }
    .soft { color: var(--soft); } p { margin: 0; padding: 2px 14px; max-width: 90ch; overflow-wrap: anywhere; } .more { padding-bottom: 10px; }
    ul { margin: 6px 0 0; padding: 0 14px 10px 30px; font-size: 13px; } li { overflow-wrap: anywhere; }`;
  const host = element("aside", { id: "sharc-verdict" });
  const root = host.attachShadow({ mode: "open" });
  root.append(element("style", { textContent: style }));
  host.setAttribute("aria-label", "What the certificate says of this copy");

  const draw = (page, parts) => {
    const open = root.querySelector("details")?.open ?? false;
    const [kind, verdict, grounds] = words(page);
    const line = element("summary", {}, element("b", {}, verdict), grounds ? `, ${grounds}. ` : ". ");
    const box = element("details", { className: kind, open }, line);
    if (page?.date) {
      const which = { visit: "first visit", revisit: "revisit", 304: "as the first visit, said the server; then downloaded again" }[page.part];
      const copied = `This copy is of ${time(page.date)}${which ? ` (${which})` : ""}.`;
      line.append(element("span", { className: "soft" }, `${copied} ${parts ? together(page, parts) : ""}`));
    }
    const last = page?.later?.at(-1);
    if (last) line.append(" ", element("strong", {}, `Unchanged until ${instant(last)}`), ", says the certificate of a later capture, which did not ask for it.");
    if (page?.capture) {
      box.append(element("p", {}, `Of the capture of ${page.capture.site}: ${page.capture.claim}`));
      box.append(element("p", { className: "soft more" }, `Certificate ${page.capture.digest}; sharc verify proves it. This banner repeats it and proves nothing.`));
    }
    for (const one of page?.later ?? []) {
      box.append(element("p", { className: "soft" }, `The capture of ${instant(one)} did not ask for it, and claims it ${one.grounds}. Certificate ${one.capture.digest}.`));
    }
    if (parts?.length) {
      const say = (one) => element("li", {}, `${one.date ? time(one.date) : "–"}  ${words(one)[1]}: ${one.url}`);
      box.append(element("ul", {}, ...parts.map(say)));
    }
    root.querySelector("details")?.remove();
    root.append(box);
    host.dataset.verdict = kind;
    host.dataset.done = String(Boolean(parts));
  };
  const show = async (frame) => {
    const mine = ++turn;
    captures ??= await (await fetch(new URL("captures.json", base))).json();
    const page = await copy(frame.location.href);
    if (mine !== turn) return;
    draw(page, page?.date ? null : []);
    if (!page?.date) return;
    const names = embedded(frame);
    const parts = (await Promise.all(names.slice(0, MOST).map(copy))).filter(Boolean);
    if (mine !== turn) return;
    draw(page, parts);
    if (names.length > MOST) {
      root.querySelector("summary").append(` Only ${MOST} of ${names.length} resources were looked up.`);
    }
    if (frame.document.querySelector("script[type=module]")) {
      root.querySelector("summary").append(element("strong", {}, " Scripts of it are modules, which pywb does not run: see it in ReplayWeb.page (sharc package)."));
    }
  };

  const begin = () => {
    const frame = document.getElementById("replay_iframe");
    if (!frame) return;
    document.body.append(host);
    const place = document.getElementById("wb_iframe_div");
    new ResizeObserver(() => {
      if (!root.querySelector("details")?.open) place.style.paddingBottom = `${host.offsetHeight}px`;
    }).observe(host);
    frame.addEventListener("load", () => show(frame.contentWindow));
    if (frame.contentDocument?.readyState === "complete" && frame.contentWindow.location.href !== "about:blank") show(frame.contentWindow);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
