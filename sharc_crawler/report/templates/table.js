// The reference instant is in sight, however narrow the window.
for (const mark of document.querySelectorAll("path.reference")) {
  const box = mark.closest(".scroll");
  box.scrollLeft += mark.getBoundingClientRect().left - box.getBoundingClientRect().left - box.clientWidth / 2;
}

// Commands name the folder that the report lies in, where it is opened as a file: wherever it was moved.
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
let folder = "FOLDER";
try {
  if (location.protocol === "file:") folder = quoted(decodeURIComponent(location.pathname.replace(/(.)\/[^/]*$/, "$1")));
} catch { /* a name that is not UTF-8 */ }
if (folder !== "FOLDER") {
  for (const code of document.querySelectorAll(".steps code")) code.textContent = code.textContent.replace(/(^|[ =])FOLDER(?=[ /]|$)/g, (_, before) => before + folder);
  for (const told of document.querySelectorAll(".folder")) told.hidden = true;
}

// The table of pages: sorted, filtered, and opened page by page. Without this script its first rows stand as they are.
const data = document.getElementById("pages-data");
if (data) {
  const section = data.closest("section");
  const table = section.querySelector("table");
  const body = table.tBodies[0];
  const box = table.closest(".scroll");
  const told = section.querySelector(".told");
  const find = section.querySelector("#find");
  const { site, sameDay, truth, replay } = data.dataset;
  const keys = "url verdict content hopeless rate every source visit revisit interval survival truth reason evidence canonical".split(" ");
  const { files, rows } = JSON.parse(data.textContent);
  rows.pop(); // the end
  const pages = rows.map((row) => Object.fromEntries(row.map((value, i) => [keys[i], value])));
  const order = ["changed", "unknown", "coherent"];
  const columns = [
    (page) => page.url,
    (page) => order.indexOf(page.verdict),
    (page) => (page.rate ? 1 / page.rate : Infinity),
    (page) => page.visit?.[0] ?? "",
    (page) => page.revisit?.[0] ?? "",
    (page) => page.interval ?? -1,
    (page) => page.survival ?? -1,
    ...(truth ? [(page) => String(page.truth)] : []),
    (page) => page.reason,
  ];
  const STEP = 100; // rows that are made at a time
  let shown = pages;
  let made = 0;

  const element = (name, properties = {}, ...children) => {
    const one = Object.assign(document.createElement(name), properties);
    one.append(...children);
    return one;
  };
  const label = (url) => {
    const found = url.match(/^https?:\/\/(?:www\.)?(([^/:]+)(?::\d+)?)(\/.*)$/);
    const text = found && (found[1] === site || found[2] === site) ? found[3] : url;
    return text.length > 90 ? `${text.slice(0, 44)}…${text.slice(-44)}` : text;
  };
  const link = (url, text) => {
    if (!/^https?:\/\//.test(url) || url.length > 500 || url.includes("\\")) return text;
    return element("a", { href: url, rel: "noreferrer noopener" }, text);
  };
  const span = (seconds) => {
    if (seconds === null) return "–";
    if (seconds < 10) return `${Number(seconds.toPrecision(2))} s`;
    let rest = Math.round(seconds);
    const parts = [];
    for (const [name, length] of [["day", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
      const number = Math.floor(rest / length);
      if (number) parts.push(`${number} ${name}${name === "day" && number > 1 ? "s" : ""}`);
      rest %= length;
    }
    return parts.slice(0, 2).join(" ");
  };
  const percent = (part) => {
    if (part === null) return "–";
    if (part === 0 || part === 1) return `${100 * part} %`;
    if (part < 0.001) return "< 0.1 %";
    return part > 0.999 ? "> 99.9 %" : `${(100 * part).toFixed(1)} %`;
  };
  const when = (visit) => {
    if (!visit) return "–";
    const text = sameDay ? visit[0].slice(11, 19) : visit[0].slice(5, 16).replace("T", " ");
    return element("time", { dateTime: `${visit[0]}Z` }, text);
  };
  const icon = (state) => document.querySelector(`.icon.${state}`).cloneNode(true);
  const cell = (name, value, text) => {
    const one = element("td", { className: name === "why" ? "why" : "nowrap" }, text);
    if (value) one.dataset.name = value;
    return one;
  };
  const download = (visit) => {
    if (!visit) return "not made";
    const [at, result, status, length, attempts, warc] = visit;
    const parts = [`${at}Z`, result, ...(status ? [`status ${status}`] : []), `${length.toLocaleString("en")} byte${length === 1 ? "" : "s"}`];
    if (attempts > 1) parts.push(`${attempts} attempts`);
    if (warc) parts.push(`in ${files[warc[0]]} at byte ${warc[1].toLocaleString("en")}`);
    return parts.join(", ");
  };
  const own = (page) => {
    const list = element("dl");
    const say = (name, ...value) => list.append(element("div", {}, element("dt", {}, name), element("dd", {}, ...value)));
    say("Visit", download(page.visit));
    say("Revisit", download(page.revisit));
    say("Verdict", `${page.verdict}: ${page.reason}`, page.evidence ? ` (evidence: ${page.evidence})` : "");
    say("Content", { kept: "kept", changed: "changed", unknown: "not known" }[page.content]);
    if (page.verdict === "changed") say("What changed", element("code", {}, `sharc diff ${folder} ${folder} ${quoted(page.url)}`));
    if (page.visit) {
      const address = `${replay}${page.visit[0].replace(/\D/g, "").slice(0, 14)}/${page.url}`;
      say("Replay", link(address, "as it was visited"), ", while ", element("code", {}, `sharc replay ${folder} --port 8090`), " runs");
    }
    if (page.canonical) say("Canonical URL", page.canonical, ", as in report-pages.jsonl and certificate");
    say("On the web", link(page.url, "as it is now"));
    return list;
  };
  const row = (page) => {
    const opener = element("button", { type: "button", className: "open" }, label(page.url));
    opener.setAttribute("aria-expanded", "false");
    const head = element("th", { scope: "row", className: "url" }, opener);
    const verdict = element("td", { className: "verdict" }, icon(page.verdict), page.verdict);
    if (page.hopeless) verdict.append(" ", element("span", { className: "plan" }, "hopeless"));
    const why = cell("why", "", page.reason);
    if (page.content === "kept" && page.verdict !== "coherent") {
      why.append(" ", element("span", { className: "soft" }, "(content kept)"));
    }
    const changes = cell("", "changes", element("span", { className: "nowrap" }, page.every));
    changes.className = "";
    changes.append(" ", element("span", { className: "soft" }, page.source));
    const cells = [changes, cell("", "visited", when(page.visit)), cell("", "revisited", when(page.revisit)),
      cell("", "between", span(page.interval)), cell("", "chance", percent(page.survival))];
    if (truth) cells.push(cell("", "in truth", { true: "same", false: "changed" }[page.truth] ?? "–"));
    const line = element("tr", { className: page.verdict }, head, verdict, ...cells, why);
    opener.addEventListener("click", () => {
      const open = opener.getAttribute("aria-expanded") === "true";
      opener.setAttribute("aria-expanded", String(!open));
      if (open) line.nextSibling.remove();
      else line.after(element("tr", { className: "own" }, element("td", { colSpan: line.cells.length }, own(page))));
    });
    return line;
  };
  const more = () => {
    body.append(...shown.slice(made, made + STEP).map(row));
    made = Math.min(made + STEP, shown.length);
  };
  const start = () => {
    body.replaceChildren();
    made = 0;
    box.scrollTop = 0;
    more();
    told.textContent = `${shown.length.toLocaleString("en")} of ${pages.length.toLocaleString("en")} page${pages.length === 1 ? "" : "s"} listed.`;
  };
  const sorted = () => {
    const head = table.querySelector("thead th[aria-sort]");
    if (!head) return;
    const value = columns[head.cellIndex];
    const down = head.getAttribute("aria-sort") === "descending" ? -1 : 1;
    const compare = (a, b) => (a < b ? -down : a > b ? down : 0);
    shown = shown.map((page) => [value(page), page]).sort((a, b) => compare(a[0], b[0])).map((pair) => pair[1]);
  };
  const filtered = () => {
    const only = section.querySelector("input[name=only]:checked").id.slice(5);
    const words = find.value.trim().toLowerCase();
    shown = pages.filter((page) =>
      (only === "all" || (only === "kept" ? page.content === "kept" && page.verdict !== "coherent" : only === "hopeless" ? page.hopeless : page.verdict === only)) &&
      (!words || page.url.toLowerCase().includes(words) || page.reason.toLowerCase().includes(words)));
    sorted();
    start();
  };
  for (const head of table.querySelectorAll("thead th")) {
    const button = element("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sorted();
      start();
    });
  }
  box.addEventListener("scroll", () => {
    if (made < shown.length && box.scrollTop + box.clientHeight > box.scrollHeight - 600) more();
  });
  for (const input of section.querySelectorAll("fieldset input")) input.addEventListener("input", filtered);
  pages.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict) || (b.rate ?? 0) - (a.rate ?? 0));
  find.closest("label").hidden = false;
  section.classList.add("live");
  start();
}
