"use strict";
// The picture of the page: the overview of all problems, or a plot of one whose axes and methods are chosen. The charts
// are those of the data, with axes that are filled in here.
{
  const data = embedded("plot-data");
  const CANVAS_FROM = 3000;  // points; below, the plot is SVG with a description of each point
  const EVEN_STEPS = 10;

  const start = () => {
    const form = document.getElementById("plot-controls");
    const choice = form.elements;
    const legend = document.getElementById("plot-legend");
    const box = document.getElementById("plot");
    const note = document.getElementById("plot-note");
    const runs = data.codes.label.map((_, index) => {
      const run = { run: index + 1 };
      for (const [name, codes] of Object.entries(data.codes)) run[name] = data.texts[name][codes[index]];
      for (const [name, values] of Object.entries(data.numbers)) run[name] = values[index];
      return run;
    });
    const off = new Set();
    let view = null;
    let redrawn = 0;

    const live = document.getElementById("live");
    const overview = document.getElementById("figure-overview");
    const usual = runs.length > CANVAS_FROM ? "means" : "runs";
    const within = (run, name) => !choice[name].value || run[name] === choice[name].value;
    const ofProblem = () => runs.filter((run) => within(run, "problem") && within(run, "family"));
    const given = (value) => value != null && value !== "";
    const distinct = (rows, name) => [...new Set(rows.map((row) => row[name]).filter(given))];
    const title = (name) => data.x[name] || name;
    const colour = (label) => readable(data.styles[label][0]);

    const choices = () => {
      const families = distinct(runs.filter((run) => within(run, "problem")), "family");
      fill(choice.family, [["", "all families"], ...families.sort().map((name) => [name, name])]);
      const rows = ofProblem();
      const first = data.first[0] || [];
      const varied = Object.keys(data.x).filter((name) => name === "label" || distinct(rows, name).length > 1);
      fill(choice.x, varied.map((name) => [name, data.x[name]]), choice.x.value || first[0]);
      const measured = Object.keys(data.y).filter((name) => distinct(rows, name).length);
      fill(choice.y, measured.map((name) => [name, data.y[name]]), choice.y.value || first[1]);
      const labels = Object.keys(data.styles).filter((label) => rows.some((row) => row.label === label));
      legend.replaceChildren(...labels.map(entry));
      scales();
    };

    const scales = () => {  // the scales that suit the axes chosen
      const rows = ofProblem();
      const along = distinct(rows, choice.x.value);
      const numeric = along.every((value) => typeof value === "number");
      choice.steps.options[1].disabled = choice.steps.options[2].disabled = !numeric;
      const wide = Math.min(...along) > 0 ? "log" : "linear";
      choice.steps.value = numeric && along.length > EVEN_STEPS ? wide : "steps";
      const up = distinct(rows, choice.y.value).filter((value) => value > 0);
      choice.logarithmic.checked = up.length > 0 && Math.max(...up) / Math.min(...up) > 20;
    };

    const entry = (label) => {
      const box = element("input", { type: "checkbox" });
      box.checked = !off.has(label);
      box.addEventListener("change", () => {
        box.checked ? off.delete(label) : off.add(label);
        draw();
      });
      const outline = element("path", { d: data.styles[label][1], fill: colour(label), stroke: colour(label) });
      const mark = element("svg", { viewBox: "-1.3 -1.3 2.6 2.6", "aria-hidden": "true" }, outline);
      return element("label", {}, box, mark, label + (data.styles[label][2] ? " (exact)" : ""));
    };

    const common = (rows, what) => {  // the rows on the instances that all methods shown have, and a sentence
      const labels = distinct(rows, "label");
      const seen = new Map();
      for (const row of rows) seen.set(row.instance, (seen.get(row.instance) || new Set()).add(row.label));
      const shared = new Set([...seen.keys()].filter((instance) => seen.get(instance).size === labels.length));
      if (!shared.size) return [rows, "over each method's own instances (no instance has all methods shown: compare with care)"];
      const over = `over the ${shared.size} of ${count(seen.size, "instance")} on which all methods shown have a ${what}`;
      return [rows.filter((row) => shared.has(row.instance)), over];
    };

    const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

    const chosen = (show, x, y) => {  // the rows of the chart, and the sentence below it
      const all = ofProblem().filter((run) => !off.has(run.label));
      if (show === "profile") {
        const [rows, over] = common(all, "run");
        return [rows, `Share of runs whose ratio is at most a factor, ${over}; a run without a ratio never is.`];
      }
      const low = choice.logarithmic.checked ? 0 : -Infinity;
      const along = (value) => given(value) && (choice.steps.value !== "log" || value > 0);
      const known = all.filter((run) => given(run[y]) && run[y] > low && along(run[x]));
      const left = all.length - known.length;
      const without = left ? ` ${count(left, "run")} without a value on these axes ${left === 1 ? "is" : "are"} left out.` : "";
      if (show === "means") {
        const [rows, over] = common(known, y);
        return [rows, `Means ${over}, with the lowest and the highest run.${without}`];
      }
      const key = "Filled: the optimum of the instance is proven; hollow: only a bound. A click on a point shows its row.";
      return [known, `${count(known.length, "run")}. ${key}${without}`];
    };

    const formatTooltip = (facts, escape) => {
      const short = (text) => (Number(text) % 1 ? Number(text).toPrecision(4) : text);
      const names = { x: title(choice.x.value), y: title(choice.y.value), low: "lowest", high: "highest", ...data.x };
      const line = ([name, value]) => `<tr><td class="key">${escape(names[name] || name)}</td>`
        + `<td class="value">${escape(short(value))}</td></tr>`;
      const left = ["proven", "problem", ...(facts.run ? ["x", "y"] : [])];
      const shown = Object.entries(facts).filter(([name, value]) => given(value) && value !== "null" && !left.includes(name));
      return `<table>${shown.map(line).join("")}</table>`;
    };

    const specification = (rows) => {  // the chart with its data, and every channel with what was chosen for it
      const [show, steps] = [choice.show.value, choice.steps.value];
      const labels = Object.keys(data.styles).filter((label) => rows.some((run) => run.label === label));
      const scale = (type, padding) => ({ type, nice: false, padding, ...(type === "log" ? {} : { zero: false }) });
      const y = { scale: scale(choice.logarithmic.checked ? "log" : "linear", 10) };
      const channels = {
        color: { scale: { domain: labels, range: labels.map(colour) } },
        fill: { scale: { domain: labels, range: labels.map(colour) } },
        shape: { scale: { domain: labels, range: labels.map((label) => data.styles[label][1]) } },
        xOffset: { sort: labels },
        ...(show === "profile" ? { x: { scale: y.scale } } : {
          x: { title: title(choice.x.value), ...(steps === "steps" ? { type: "ordinal", axis: { labelAngle: 0, labelOverlap: true } }
            : { type: "quantitative", scale: scale(steps, 12) }) },
          y: { title: title(choice.y.value), ...y },
        }),
      };
      const filled = JSON.parse(JSON.stringify(data.charts[show]), (key, value) => {
        if (key === "xOffset" && steps !== "steps") return undefined;  // only beside each other at even steps
        if (key === "layer" && steps === "steps") return value.filter((one) => one.name !== "line");
        return key in channels && value.field ? { ...value, ...channels[key] } : value;
      });
      return { ...filled, data: { values: rows } };
    };

    const draw = async () => {
      const turn = ++redrawn;
      const [show, x, y] = [choice.show.value, choice.x.value, choice.y.value];
      live.hidden = show === "overview";
      if (overview) overview.hidden = !live.hidden;
      if (live.hidden) return undefined;
      for (const control of [choice.x, choice.y, choice.steps]) control.disabled = show === "profile" || !control.options.length;
      const [rows, sentence] = chosen(show, x, y);
      const quiet = getComputedStyle(note).color;
      const ink = getComputedStyle(document.body).color;
      const font = getComputedStyle(legend).fontFamily;
      const axis = {
        labelColor: ink, titleColor: ink, domainColor: quiet, tickColor: quiet, gridColor: getComputedStyle(form.querySelector("fieldset")).borderTopColor,
        labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: "normal", labelFont: font, titleFont: font,
      };
      const subject = show === "profile" ? "performance profile" : `${title(y)} against ${title(x)}`;
      const spec = {
        ...specification(rows.map((run) => ({ ...run, x: run[x], y: run[y] }))),
        width: "container", height: innerWidth < 700 ? 300 : 400, background: null,
        autosize: { type: "fit-x", contains: "padding" }, config: { axis, view: { stroke: null }, font },
        description: `${choice.problem.value}: ${subject}`,
      };
      const made = await vegaEmbed(box, spec, {
        mode: "vega-lite", actions: false, renderer: show === "runs" && rows.length > CANVAS_FROM ? "canvas" : "svg",
        tooltip: { theme: isDark() ? "dark" : "light", formatTooltip },
      });
      if (turn !== redrawn) return made.finalize();
      view?.finalize();
      view = made;
      view.view.addEventListener("click", (event, item) => {
        if (item?.datum?.run) location.hash = `#run-${item.datum.run}`;
      });
      note.textContent = sentence;
      box.dataset.drawn = redrawn;
      return undefined;
    };

    const choose = ({ target: { name } }) => {
      const whole = name === "problem" ? !choice.problem.value : name === "show" && choice.show.value === "overview";
      if (whole) {
        choice.show.value = "overview";
        choice.problem.value = choice.family.value = "";
      } else {
        if (choice.show.value === "overview") choice.show.value = usual;
        if (!choice.problem.value) choice.problem.value = ofProblem()[0].problem;
      }
      if (["problem", "family", "show"].includes(name)) choices();
      if (["x", "y"].includes(name)) scales();
      draw();
      const plots = document.getElementById("plots");
      if (plots.getBoundingClientRect().bottom < innerHeight / 2) plots.scrollIntoView();
    };
    const all = overview ? [["", "all problems"]] : [];
    fill(choice.problem, [...all, ...data.texts.problem.map((name) => [name, name])]);
    if (!overview) choice.show.value = usual;
    for (const control of form.elements) if (control.name) control.addEventListener("change", choose);
    for (const [id, wanted] of [["legend-all", true], ["legend-none", false]]) {
      document.getElementById(id).addEventListener("click", () => {
        for (const label of Object.keys(data.styles)) wanted ? off.delete(label) : off.add(label);
        for (const box of legend.querySelectorAll("input")) box.checked = wanted;
        draw();
      });
    }
    const again = () => {
      choices();
      draw();
    };
    document.addEventListener("theme", again);
    again();
  };

  const luminance = (rgb) => rgb
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);

  const readable = (colour) => {  // lighter on dark paper, until the contrast is 3.5
    if (!isDark()) return colour;
    const paper = luminance(getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(Number));
    let rgb = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
    while ((luminance(rgb) + 0.05) / (paper + 0.05) < 3.5) rgb = rgb.map((part) => part + (255 - part) * 0.1 + 0.5);
    return `rgb(${rgb.map(Math.round).join(",")})`;
  };

  if (data) start();
}

// Charts of figures: their pictures are drawn again with tooltips, from the same specification, once they are in view.
{
  const live = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      live.unobserve(target);
      const spec = JSON.parse(target.closest("figure").querySelector("script.chart").textContent);
      const size = target.querySelector("svg").getAttribute("style");
      const narrow = innerWidth < 700 && spec.columns > 1;
      if (narrow) {  // panels below each other, as wide as the page
        spec.config.legend.columns = Math.max(1, Math.floor(spec.config.legend.columns / spec.columns));
        spec.columns = 1;
      }
      const box = document.createElement("div");
      vegaEmbed(box, spec, { mode: "vega-lite", actions: false, renderer: "svg", logLevel: 1 }).then(() => {
        const drawn = box.querySelector("svg");
        drawn.setAttribute("style", narrow ? `min-width: ${1.7 * drawn.getAttribute("width")}px` : size);
        for (const name of ["width", "height"]) drawn.removeAttribute(name);
        for (const empty of box.querySelectorAll('g[role="graphics-symbol"]:not([aria-label])')) {
          for (const name of ["role", "aria-roledescription"]) empty.removeAttribute(name);
        }
        target.replaceChildren(box);
      });
    }
  });
  for (const spec of document.querySelectorAll("script.chart")) live.observe(spec.closest("figure").querySelector(".scroll"));
}
