"use strict";
const replay = JSON.parse(document.getElementById("replay").textContent);
const slider = document.getElementById("time");
const play = document.getElementById("play");
const captions = [...document.querySelectorAll("figcaption")].map((caption) => {
  caption.append(document.createElement("br"));
  return caption.appendChild(document.createElement("span"));
});
const part = (answer, name) => document.getElementById(`drawing${answer}-${name}`);
let timer = 0;

// The state after a frame: what each link and node is, from the start on; what is not listed is not there.
function stateAt(last, answer) {
  const links = new Map(), present = new Set(replay.present);
  replay.answers[answer].slice(0, last + 1).forEach(([, added, removed], frame) => {
    removed.forEach((link) => frame === last ? links.set(link, "gone") : links.delete(link));
    added.forEach((link) => links.set(link, frame === last ? "now" : "there"));
  });
  replay.frames.slice(0, last + 1).forEach(([, joined, left], frame) => {
    joined.forEach((node) => present.add(node));
    if (frame < last) left.forEach((node) => present.delete(node));
  });
  return [links, present];
}

function show(frame) {
  const [title, , , acting] = replay.frames[frame];
  replay.answers.forEach((frames, answer) => {
    const [links, present] = stateAt(frame, answer);
    for (let link = 0, group; (group = part(answer, `link-${link}`)); link++) {
      const state = links.get(link);
      group.classList.toggle("later", !state);
      group.classList.toggle("now", state === "now");
      group.classList.toggle("gone", state === "gone");
    }
    for (let node = 0; node < replay.nodes; node++) {
      for (const group of [part(answer, `node-${node}`), part(answer, `node-${node}-label`)]) {
        group?.classList.toggle("later", !present.has(node));
        group?.classList.toggle("acting", acting.includes(node));
      }
    }
    captions[answer].textContent = frames[frame][0];
  });
  document.getElementById("now").textContent = title;
  slider.setAttribute("aria-valuetext", title);
}

function go(frame) {
  slider.value = Math.min(Math.max(frame, 0), replay.frames.length - 1);
  show(Number(slider.value));
}

function run(started) {
  clearInterval(timer);
  play.textContent = started ? "Pause" : "Play";
  play.setAttribute("aria-pressed", String(started));
  if (!started) return;
  if (Number(slider.value) === replay.frames.length - 1) go(0);
  timer = setInterval(() => {
    go(Number(slider.value) + 1);
    if (Number(slider.value) === replay.frames.length - 1) run(false);
  }, 700);
}

slider.addEventListener("input", () => { run(false); show(Number(slider.value)); });
play.addEventListener("click", () => run(play.textContent === "Play"));
document.getElementById("back").addEventListener("click", () => { run(false); go(Number(slider.value) - 1); });
document.getElementById("forward").addEventListener("click", () => { run(false); go(Number(slider.value) + 1); });
show(0);
