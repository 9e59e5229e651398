"use strict";
// One plot whose problem, axes and methods are chosen; drawn by Vega-Lite.
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
    const runs = data.instance.map((instance, index) => {
      const run = { run: index + 1, instance: data.instances[instance], proven: Boolean(data.proven[index]) };
      for (const [name, codes] of Object.entries(data.codes)) run[name] = data.texts[name][codes[index]];
      for (const [name, values] of Object.entries(data.numbers)) run[name] = values[index];
      return run;
    });
    const off = new Set();
    let view = null;
    let redrawn = 0;

    const ofProblem = () => runs.filter(
      (run) => run.problem === choice.problem.value && (!choice.family.value || run.family === choice.family.value));
    const given = (value) => value != null && value !== "";
    const distinct = (rows, name) => [...new Set(rows.map((row) => row[name]).filter(given))];
    const title = (name) => data.x[name] || name;

    const choices = () => {
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

    const colour = (label) => readable(data.styles[label][0]);

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

    const common = (rows, labels) => {  // the rows on the instances that all methods shown have
      const seen = new Map();
      for (const row of rows) seen.set(row.instance, (seen.get(row.instance) || new Set()).add(row.label));
      const shared = [...seen].filter(([, found]) => found.size === labels.length).map(([instance]) => instance);
      const kept = shared.length ? rows.filter((row) => shared.includes(row.instance)) : rows;
      return [kept, shared.length, seen.size];
    };

    const means = (rows, x, y) => {
      const groups = new Map();
      for (const row of rows) {
        const key = JSON.stringify([row.label, row[x]]);
        groups.set(key, [...(groups.get(key) || []), row]);
      }
      return [...groups.values()].map((group) => {
        const values = group.map((row) => row[y]);
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const instances = new Set(group.map((row) => row.instance)).size;
        const ends = { lowest: Math.min(...values), highest: Math.max(...values) };
        return { label: group[0].label, [x]: group[0][x], [y]: mean, ...ends, runs: group.length, instances };
      });
    };

    const profiles = (rows, labels) => labels.flatMap((label) => {
      const own = rows.filter((row) => row.label === label);
      const reached = own.map((row) => row.ratio).filter((ratio) => ratio != null).sort((a, b) => a - b);
      return reached.map((ratio, index) => ({ label, ratio, share: (index + 1) / own.length }));
    });

    const tooltip = (rows) => Object.keys(rows[0] || {})
      .filter((name) => !["proven", "problem"].includes(name))
      .map((name) => ({ field: escapedField(name), title: name === "label" ? "method" : title(name) }));
    const formatTooltip = (facts, escape) => {
      const short = (text) => (Number(text) % 1 ? Number(text).toPrecision(4) : text);
      const cell = (name, text) => `<td class="${name}">${escape(text)}</td>`;
      const lines = Object.entries(facts).filter(([, value]) => given(value) && value !== "null");
      const line = ([name, value]) => `<tr>${cell("key", name)}${cell("value", short(value))}</tr>`;
      return `<table>${lines.map(line).join("")}</table>`;
    };
    const escapedField = (name) => name.replace(/[.[\]\\]/g, "\\$&");

    const encoding = (x, y, labels) => {
      const steps = choice.steps.value === "steps";
      const range = labels.map(colour);
      const scale = { domain: labels, range };
      return {
        x: { field: escapedField(x), title: title(x), ...(steps
          ? { type: "ordinal", axis: { labelAngle: 0, labelOverlap: true } }
          : { type: "quantitative", scale: { type: choice.steps.value, zero: false, nice: false, padding: 12 } }) },
        y: { field: escapedField(y), title: title(y), type: "quantitative",
             scale: { type: choice.logarithmic.checked ? "log" : "linear", zero: false, nice: false, padding: 10 } },
        ...(steps ? { xOffset: { field: "label", sort: labels } } : {}),
        color: { field: "label", type: "nominal", scale, legend: null },
        shape: { field: "label", type: "nominal", legend: null,
          scale: { domain: labels, range: labels.map((label) => data.styles[label][1]) } },
      };
    };

    const ofRuns = (rows, x, y, labels) => {
      const base = encoding(x, y, labels);
      return { data: { values: rows }, mark: { type: "point", size: 55, cursor: "pointer", strokeWidth: 1.2 },
        encoding: { ...base, fill: base.color, tooltip: tooltip(rows),
          fillOpacity: { condition: { test: "datum.proven", value: 0.85 }, value: 0.001 } } };
    };

    const ofMeans = (rows, x, y, labels) => {
      const base = encoding(x, y, labels);
      const line = { mark: { type: "line", strokeWidth: 1.5 }, encoding: { ...base, shape: undefined } };
      const range = { mark: { type: "rule", strokeWidth: 1.2 },
        encoding: { ...base, shape: undefined, y: { ...base.y, field: "lowest" }, y2: { field: "highest" } } };
      const marked = { ...base, fill: base.color, tooltip: tooltip(rows) };
      const point = { mark: { type: "point", size: 70 }, encoding: marked };
      return { data: { values: rows }, layer: [range, ...(choice.steps.value === "steps" ? [] : [line]), point] };
    };

    const ofProfiles = (rows, labels) => ({
      data: { values: rows },
      mark: { type: "line", interpolate: "step-after", strokeWidth: 2, point: { filled: true, size: 30 } },
      encoding: {
        x: { field: "ratio", type: "quantitative", title: "factor of the best bound",
          scale: { type: choice.logarithmic.checked ? "log" : "linear", zero: false } },
        y: { field: "share", type: "quantitative", title: "share of runs within the factor", scale: { domain: [0, 1] } },
        color: { field: "label", type: "nominal", scale: { domain: labels, range: labels.map(colour) }, legend: null },
        tooltip: [{ field: "label", title: "method" }, { field: "ratio" }, { field: "share", format: ".0%" }],
      },
    });

    const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

    const specification = () => {
      const [x, y] = [choice.x.value, choice.y.value];
      const profile = choice.show.value === "profile";
      const all = ofProblem().filter((run) => !off.has(run.label));
      const labels = Object.keys(data.styles).filter((label) => all.some((run) => run.label === label));
      if (profile) {
        const [rows, shared, total] = common(all, labels);
        const sentence = `Share of runs whose ratio is at most a factor, ${over(shared, total, "run")};`;
        return [ofProfiles(profiles(rows, labels), labels), rows.length, `${sentence} a run without a ratio never is.`];
      }
      const low = choice.logarithmic.checked ? 0 : -Infinity;
      const along = (value) => given(value) && (choice.steps.value !== "log" || value > 0);
      const rows = all.filter((run) => given(run[y]) && run[y] > low && along(run[x]));
      const left = all.length - rows.length;
      const without = left ? ` ${count(left, "run")} without a value on these axes ${left === 1 ? "is" : "are"} left out.` : "";
      if (choice.show.value === "means") {
        const present = labels.filter((label) => rows.some((run) => run.label === label));
        const [kept, shared, total] = common(rows, present);
        return [ofMeans(means(kept, x, y), x, y, labels), kept.length,
          `Means ${over(shared, total, y)}, with the lowest and the highest run.${without}`];
      }
      const key = "Filled: the optimum of the instance is proven; hollow: only a bound. A click on a point shows its row.";
      return [ofRuns(rows, x, y, labels), rows.length, `${count(rows.length, "run")}. ${key}${without}`];
    };

    const over = (shared, total, what) => (shared
      ? `over the ${shared} of ${count(total, "instance")} on which all methods shown have a ${what}`
      : `over each method's own instances (no instance has all methods shown: compare with care)`);

    const draw = async () => {
      const turn = ++redrawn;
      const profile = choice.show.value === "profile";
      for (const control of [choice.x, choice.y, choice.steps]) control.disabled = profile || !control.options.length;
      const [layers, points, sentence] = specification();
      const style = getComputedStyle(document.body);
      const quiet = getComputedStyle(note).color;
      const line = getComputedStyle(box).borderTopColor;
      const font = getComputedStyle(legend).fontFamily;
      const axis = {
        labelColor: style.color, titleColor: style.color, domainColor: quiet, tickColor: quiet, gridColor: line,
        labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: "normal", labelFont: font, titleFont: font,
      };
      const subject = profile ? "performance profile" : `${title(choice.y.value)} against ${title(choice.x.value)}`;
      const spec = {
        ...layers, width: "container", height: innerWidth < 700 ? 300 : 400, background: null,
        autosize: { type: "fit-x", contains: "padding" }, config: { axis, view: { stroke: null }, font },
        description: `${choice.problem.value}: ${subject}`,
      };
      const made = await vegaEmbed(box, spec, {
        mode: "vega-lite", actions: false, renderer: points > CANVAS_FROM ? "canvas" : "svg",
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

    fill(choice.problem, data.texts.problem.map((name) => [name, name]));
    fill(choice.family, [["", "all families"], ...data.texts.family.map((name) => [name, name])]);
    form.addEventListener("change", (event) => {
      if (["problem", "family"].includes(event.target.name)) choices();
      if (["x", "y"].includes(event.target.name)) scales();
      if (event.target.name) draw();
    });
    for (const [id, wanted] of [["legend-all", true], ["legend-none", false]]) {
      document.getElementById(id).addEventListener("click", () => {
        for (const label of Object.keys(data.styles)) wanted ? off.delete(label) : off.add(label);
        for (const box of legend.querySelectorAll("input")) box.checked = wanted;
        draw();
      });
    }
    document.addEventListener("theme", () => {
      choices();
      draw();
    });
    choices();
    draw();
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
      const figure = target.closest("figure");
      const picture = target.querySelector("svg");
      const size = picture.getAttribute("style");
      const spec = JSON.parse(figure.querySelector("script.chart").textContent);
      const box = document.createElement("div");
      vegaEmbed(box, spec, { mode: "vega-lite", actions: false, renderer: "svg", logLevel: 1 }).then(() => {
        const drawn = box.querySelector("svg");
        drawn.setAttribute("style", size);
        drawn.removeAttribute("width");
        drawn.removeAttribute("height");
        for (const empty of box.querySelectorAll('g[role="graphics-symbol"]:not([aria-label])')) {
          empty.removeAttribute("role");
          empty.removeAttribute("aria-roledescription");
        }
        target.replaceChildren(box);
      });
    }
  });
  for (const spec of document.querySelectorAll("script.chart")) live.observe(spec.closest("figure").querySelector(".paper"));
}
