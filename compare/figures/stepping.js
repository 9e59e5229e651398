"use strict";
const steps = JSON.parse(document.getElementById("steps").textContent);
const slider = document.getElementById("step");
const now = document.getElementById("now");
const part = (name, number) => document.getElementById(`drawing0-${name}-${number}`);

function show(number) {
  steps.forEach((step, index) => {
    const edges = part("step", index + 1), ring = part("ring", index + 1), row = document.getElementById(`row-${index + 1}`);
    const current = index + 1 === number;
    edges?.classList.toggle("later", index + 1 > number);
    edges?.classList.toggle("now", current);
    ring?.classList.toggle("now", current);
    if (current) row.setAttribute("aria-current", "step"); else row.removeAttribute("aria-current");
  });
  now.replaceChildren();
  if (number > 0) {
    const title = document.createElement("strong");
    title.textContent = steps[number - 1].title;
    now.append(title, document.createElement("br"), steps[number - 1].text);
    const row = document.getElementById(`row-${number}`), box = row.closest(".scroll");
    const top = row.offsetTop - box.clientHeight / 2;
    box.scrollTop = Math.max(0, top);
  } else {
    now.append(`No edge yet; ${steps.length} steps follow.`);
  }
  slider.setAttribute("aria-valuetext", number > 0 ? steps[number - 1].title : "no edge yet");
}

function go(number) {
  slider.value = Math.min(Math.max(number, 0), steps.length);
  show(Number(slider.value));
}

steps.forEach((step, index) => part("ring", index + 1)?.classList.add("ring"));
slider.addEventListener("input", () => show(Number(slider.value)));
document.getElementById("back").addEventListener("click", () => go(Number(slider.value) - 1));
document.getElementById("forward").addEventListener("click", () => go(Number(slider.value) + 1));
document.querySelector("tbody").addEventListener("click", (event) => {
  if (event.target.matches("button")) go(Number(event.target.value));
});
go(steps.length ? 1 : 0);
