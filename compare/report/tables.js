"use strict";
// Every table is sorted by its heads, and one field filters the rows of all tables.
{
  const SECONDS = { ms: 1e-3, s: 1, min: 60, h: 3600 };
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const bodies = [];

  const number = (text) => {
    const found = /^(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)(?: (ms|s|min|h)\b)?/.exec(text);
    return found ? Number(found[1].replaceAll(",", "")) * (SECONDS[found[2]] || 1) : NaN;
  };

  const compare = (one, other) => {
    if (typeof one === "string") return one.localeCompare(other, "en", { numeric: true });
    return one - other;
  };

  const sort = (body, column, direction, numeric) => {
    body.original ||= [...body.rows];
    const keyed = body.original.map((row) => {
      const text = row.cells[column].textContent.trim();
      return [row, numeric ? number(text) : text];
    });
    const missing = keyed.filter(([, key]) => Number.isNaN(key) || key === "–");
    const present = keyed.filter(([, key]) => !(Number.isNaN(key) || key === "–"));
    const sign = direction === "descending" ? -1 : 1;
    if (direction !== "none") present.sort((one, other) => sign * compare(one[1], other[1]));
    const rows = direction === "none" ? body.original : [...present, ...missing].map(([row]) => row);
    body.append(...rows);
    body.parentElement.classList.toggle("sorted", direction !== "none");
  };

  const prepare = (body) => {
    bodies.push(body);
    if (body.rows.length < 2) return;
    const heads = [...body.parentElement.tHead.rows].at(-1).cells;
    for (const [column, head] of [...heads].entries()) {
      const button = element("button", { type: "button" }, head.textContent);
      head.setAttribute("aria-sort", "none");
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const direction = NEXT[head.getAttribute("aria-sort")];
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", direction);
        sort(body, column, direction, head.classList.contains("n"));
      });
    }
  };
  for (const body of document.querySelectorAll("tbody")) prepare(body);
  for (const box of document.querySelectorAll(".scroll:has(table)")) {  // a screen at most, before all is asked for
    if (box.scrollHeight < box.clientHeight + 8) continue;
    const more = element("button", { type: "button" }, `All ${box.querySelector("tbody").rows.length} rows`);
    more.addEventListener("click", () => {
      box.classList.add("whole");
      more.remove();
    });
    box.after(more);
  }
  document.addEventListener("rows", ({ detail }) => prepare(detail.querySelector("tbody")));

  const OPENED_AT_MOST = 200;
  const field = document.getElementById("filter");
  const count = document.getElementById("filter-count");
  const texts = new Map();  // of the rows, from the first search on
  const openedHere = new Set();

  const context = (body) => {
    const list = body.closest("details");
    if (list) return list.querySelector("summary").textContent;
    let before = body.closest(".scroll");
    while (before && !/^H[23]$/.test(before.tagName)) before = before.previousElementSibling;
    return before ? before.textContent : "";
  };

  const readTexts = () => {
    for (const body of bodies) {
      const about = context(body).toLowerCase();
      for (const row of body.rows) {
        const cells = [...row.cells].map((cell) => cell.textContent);
        texts.set(row, `${cells.join(" ").toLowerCase()} ${about}`);
      }
    }
  };

  const starting = (word) => {  // a word's start, also after a hyphen: "oda" finds "low-oda", "60" does not find "160"
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}`, "u");
  };

  const filter = async () => {
    await Promise.all([...document.querySelectorAll("[data-packed]")].map(unpack));
    if (texts.size < bodies.reduce((sum, body) => sum + body.rows.length, 0)) readTexts();
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean).map(starting);
    let hits = 0;
    const found = new Map();
    for (const body of bodies) {
      let here = 0;
      for (const row of body.rows) {
        row.hidden = !words.every((word) => word.test(texts.get(row)));
        here += !row.hidden;
      }
      found.set(body, here);
      hits += here;
    }
    for (const list of openedHere) list.open = false;
    openedHere.clear();
    for (const [body, here] of found) {
      const list = body.closest("details");
      (list || body.closest(".scroll")).classList.toggle("no-rows", !here);
      if (list && here && words.length && hits <= OPENED_AT_MOST && !list.open) {
        list.open = true;
        openedHere.add(list);
      }
    }
    const result = hits ? `${hits.toLocaleString("en")} of ${texts.size.toLocaleString("en")} rows` : "No row of this page has all these words.";
    count.textContent = words.length ? result : "";
  };

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
}
