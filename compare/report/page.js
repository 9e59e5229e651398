"use strict";
// Light and dark, and links into closed details.
const root = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.getElementById("theme");

function isDark() {
  return (root.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";
}

function showTheme(chosen) {
  if (chosen) root.dataset.theme = chosen;
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", isDark() ? "Light theme" : "Dark theme");
  document.dispatchEvent(new Event("theme"));
}

function remembered(theme) {  // a page from a file may have no storage
  try {
    if (theme) localStorage.setItem("overlaybench-theme", theme);
    return localStorage.getItem("overlaybench-theme");
  } catch {
    return theme;
  }
}

themeButton.addEventListener("click", () => showTheme(remembered(isDark() ? "light" : "dark") || "light"));
darkSystem.addEventListener("change", () => showTheme());
showTheme(remembered());

async function unpack(box) {  // the compressed rows of a list
  const bytes = Uint8Array.from(atob(box.dataset.packed), (letter) => letter.charCodeAt(0));
  box.removeAttribute("data-packed");
  box.innerHTML = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.dispatchEvent(new CustomEvent("rows", { detail: box }));
}
document.addEventListener("toggle", ({ target }) => {
  const box = target.open && target.querySelector("[data-packed]");
  if (box) unpack(box);
}, true);

async function reveal() {
  const name = decodeURIComponent(location.hash.slice(1));
  const number = Number(name.replace("run-", ""));
  const holds = ({ dataset: { first, last, prefix } }) =>
    (first ? Number(first) <= number && number <= Number(last) : name.startsWith(prefix));
  await Promise.all([...document.querySelectorAll("[data-packed]")].filter(holds).map(unpack));
  const target = document.getElementById(name);
  for (let element = target; element; element = element.parentElement) {
    if (element.tagName === "DETAILS") element.open = true;
    element.hidden = false;  // a filter may have hidden it
    element.classList.remove("no-rows");
  }
  if (target) target.scrollIntoView({ block: target.matches("h2, h3") ? "start" : "center" });
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();

function element(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "circle", "text", "title", "g"].includes(tag);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function fill(select, options, chosen) {  // options: [value, text], kept on the same value where it is still there
  const before = chosen ?? select.value;
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
  if (options.some(([value]) => value === before)) select.value = before;
}

function embedded(id) {
  const script = document.getElementById(id);
  return script && JSON.parse(script.textContent);
}
