"use strict";
// Two overlays of one instance side by side, with the edges that only one of them has.
{
  const drawn = embedded("overlay-data");
  const runs = embedded("plot-data");
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const RADIUS = 100;
  const LABELLED = 30;
  const DENSE = 100;

  const start = () => {
    const form = document.getElementById("overlay-controls");
    const choice = form.elements;
    const trait = (run, name) => (name in runs.codes ? runs.texts[name][runs.codes[name][run - 1]] : runs.numbers[name]?.[run - 1]);
    const ofInstance = (digest) => Object.keys(drawn.runs).filter((run) => trait(run, "instance") === digest).sort((one, other) => one - other);
    const edges = (run) => new Set(drawn.answers[drawn.runs[run]].match(/../g) || []);
    const exact = (run) => runs.styles[trait(run, "label")][2];
    const ends = (edge) => [...edge].map((digit) => DIGITS.indexOf(digit));
    const method = (run) => `${trait(run, "problem")}: ${trait(run, "label")}`;
    const value = (run) => `value ${Number(trait(run, "value")).toLocaleString("en")}`;
    const instance = () => drawn.instances[Number(choice.instance.value)];

    const choices = () => {
      const { digest, topics } = instance();
      const options = ofInstance(digest).map((run) => [run, `${method(run)}, ${value(run)} (run ${run})`]);
      fill(choice.left, options);
      fill(choice.right, options);
      const problem = trait(choice.left.value, "problem");
      const others = options.map(([run]) => run)
        .filter((run) => trait(run, "problem") === problem && drawn.runs[run] !== drawn.runs[choice.left.value])
        .sort((one, other) => trait(one, "value") - trait(other, "value") || exact(other) - exact(one));
      choice.right.value = others[0] ?? options.at(-1)[0];
      fill(choice.topic, [["", choice.topic.dataset.all], ...topics.map((topic, index) => [String(index), topic])], "");
    };

    const drawing = (run, other) => {
      const { nodes, wants, topics } = instance();
      const own = edges(run);
      const others = edges(other);
      const topic = choice.topic.value === "" ? null : Number(choice.topic.value);
      const faint = (...members) => (topic === null || members.every((node) => wants[node].includes(topic)) ? "" : " faint");
      const at = nodes.map((_, node) => (2 * Math.PI * node) / nodes.length - Math.PI / 2)
        .map((angle) => [RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)]);
      const svg = element("svg", { viewBox: "-122 -116 244 232", role: "img", class: own.size > DENSE ? "dense" : "" });
      const degree = new Array(nodes.length).fill(0);
      const [both, alone] = [[...own].filter((edge) => others.has(edge)), [...own].filter((edge) => !others.has(edge))];
      for (const edge of [...both, ...alone]) {  // edges only here lie above the others
        const [u, v] = ends(edge);
        for (const end of [u, v]) degree[end] += 1;
        const [[x1, y1], [x2, y2]] = [at[u], at[v]];
        const line = element("line", { x1, y1, x2, y2, class: (others.has(edge) ? "both" : "alone") + faint(u, v) });
        const shared = wants[u].filter((one) => wants[v].includes(one)).map((one) => topics[one]);
        const named = shared.slice(0, 8).join(", ") + (shared.length > 8 ? ", …" : "");
        line.append(element("title", {}, `${nodes[u]} – ${nodes[v]}: ${shared.length} shared: ${named}`));
        svg.append(line);
      }
      nodes.forEach((label, node) => {
        const [cx, cy] = at[node];
        const dot = element("circle", { cx, cy, r: nodes.length > LABELLED ? 3 : 4, class: faint(node).trim() });
        dot.append(element("title", {}, `${label}: degree ${degree[node]}, ${wants[node].length} topics`));
        svg.append(dot);
        const shown = label.length > 5 ? `${label.slice(0, 4)}…` : label;
        if (nodes.length <= LABELLED) svg.append(element("text", { x: 1.1 * cx, y: 1.1 * cy + 2.6 }, shown));
      });
      const ratio = trait(run, "ratio");
      const sentence = `${own.size} edges, ${alone.length} only here; maximum degree ${Math.max(0, ...degree)}; ${value(run)}`
        + (ratio == null ? "" : `; ratio ${Number(ratio.toPrecision(4))}`);
      svg.setAttribute("aria-label", `${method(run)}. ${sentence}`);
      const link = element("a", { href: `#run-${run}` }, `run ${run}`);
      const listed = alone.map((edge) => ends(edge).map((node) => nodes[node]).join("–")).join(", ");
      const caption = element("figcaption", {}, element("b", {}, method(run)), " (", link, `) ${sentence}.`);
      const text = `Only in run ${run} (${trait(run, "label")}): ${listed || "none"}.`;
      return [element("figure", {}, svg, caption), element("p", {}, text)];
    };

    const draw = () => {
      const [left, right] = [choice.left.value, choice.right.value];
      const [first, second] = [drawing(left, right), drawing(right, left)];
      document.getElementById("overlay-pair").replaceChildren(first[0], second[0]);
      document.getElementById("overlay-edges").replaceChildren(first[1], second[1]);
    };

    fill(choice.instance, drawn.instances.map((one, index) => [String(index), `${one.title} (${one.digest})`]));
    const telling = drawn.instances.findIndex(({ digest }) => trait(ofInstance(digest)[0], "ratio") > 1);
    choice.instance.value = String(Math.max(telling, 0));  // the smallest on which the first heuristic is not optimal
    form.addEventListener("change", (event) => {
      if (event.target.name === "instance") choices();
      draw();
    });
    choices();
    draw();
  };

  if (drawn) start();
}
