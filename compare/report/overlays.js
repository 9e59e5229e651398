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
    const pair = document.getElementById("overlay-pair");
    const listed = document.getElementById("overlay-edges");

    const trait = (run, name) => {
      const index = Number(run) - 1;
      return name in runs.codes ? runs.texts[name][runs.codes[name][index]] : runs.numbers[name]?.[index];
    };
    const ofInstance = (digest) => Object.keys(drawn.runs)
      .filter((run) => trait(run, "instance") === digest)
      .sort((one, other) => one - other);
    const edges = (run) => {
      const code = drawn.answers[drawn.runs[run]];
      return new Set(code.match(/../g) || []);
    };
    const exact = (run) => runs.styles[trait(run, "label")][2];
    const ends = (edge) => [...edge].map((digit) => DIGITS.indexOf(digit));
    const name = (run) => `${trait(run, "problem")}: ${trait(run, "label")}, ${describe(run)}`;
    const describe = (run) => `value ${Number(trait(run, "value")).toLocaleString("en")}`;

    const instance = () => drawn.instances[Number(choice.instance.value)];

    const choices = () => {
      const { digest, topics } = instance();
      const options = ofInstance(digest).map((run) => [run, `${name(run)} (run ${run})`]);
      fill(choice.left, options);
      fill(choice.right, options);
      const problem = trait(choice.left.value, "problem");
      const others = options.map(([run]) => run)
        .filter((run) => trait(run, "problem") === problem && drawn.runs[run] !== drawn.runs[choice.left.value])
        .sort((one, other) => trait(one, "value") - trait(other, "value") || exact(other) - exact(one));
      choice.right.value = others[0] ?? options.at(-1)[0];
      fill(choice.topic, [["", "all topics"], ...topics.map((topic, index) => [String(index), topic])], "");
    };

    const position = (node, count) => {
      const angle = (2 * Math.PI * node) / count - Math.PI / 2;
      return [RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)];
    };

    const shared = (u, v) => {
      const { wants, topics } = instance();
      return wants[u].filter((topic) => wants[v].includes(topic)).map((topic) => topics[topic]);
    };

    const drawing = (run, other) => {
      const { nodes, wants } = instance();
      const own = edges(run);
      const others = edges(other);
      const topic = choice.topic.value === "" ? null : Number(choice.topic.value);
      const svg = element("svg", { viewBox: "-122 -116 244 232", role: "img", class: own.size > DENSE ? "dense" : "" });
      const degree = new Array(nodes.length).fill(0);
      let alone = 0;
      for (const both of [true, false]) {  // edges only here lie above the others
        for (const edge of own) {
          const [u, v] = ends(edge);
          if (others.has(edge) !== both) continue;
          alone += !both;
          degree[u] += 1;
          degree[v] += 1;
          const [[x1, y1], [x2, y2]] = [position(u, nodes.length), position(v, nodes.length)];
          const faint = topic !== null && !(wants[u].includes(topic) && wants[v].includes(topic));
          const line = element("line", { x1, y1, x2, y2, class: `${both ? "both" : "alone"}${faint ? " faint" : ""}` });
          const topics = shared(u, v);
          const named = topics.slice(0, 8).join(", ") + (topics.length > 8 ? ", …" : "");
          line.append(element("title", {}, `${nodes[u]} – ${nodes[v]}: ${topics.length} shared: ${named}`));
          svg.append(line);
        }
      }
      nodes.forEach((label, node) => {
        const [cx, cy] = position(node, nodes.length);
        const faint = topic !== null && !wants[node].includes(topic);
        const dot = element("circle", { cx, cy, r: nodes.length > LABELLED ? 3 : 4, class: faint ? "faint" : "" });
        dot.append(element("title", {}, `${label}: degree ${degree[node]}, ${wants[node].length} topics`));
        svg.append(dot);
        if (nodes.length <= LABELLED) {
          const shown = label.length > 5 ? `${label.slice(0, 4)}…` : label;
          svg.append(element("text", { x: 1.1 * cx, y: 1.1 * cy + 2.6 }, shown));
        }
      });
      const ratio = trait(run, "ratio");
      const sentence = `${own.size} edges, ${alone} only here; maximum degree ${Math.max(0, ...degree)}; ${describe(run)}`
        + (ratio == null ? "" : `; ratio ${Number(ratio.toPrecision(4))}`);
      svg.setAttribute("aria-label", `${name(run)}. ${sentence}`);
      const link = element("a", { href: `#run-${run}` }, `run ${run}`);
      const method = element("b", {}, `${trait(run, "problem")}: ${trait(run, "label")}`);
      const caption = element("figcaption", {}, method, " (", link, `) ${sentence}.`);
      return element("figure", {}, svg, caption);
    };

    const edgeList = (run, other) => {
      const { nodes } = instance();
      const others = edges(other);
      const alone = [...edges(run)].filter((edge) => !others.has(edge));
      const text = alone.map((edge) => ends(edge).map((node) => nodes[node]).join("–")).join(", ");
      return element("p", {}, `Only in run ${run} (${trait(run, "label")}): ${text || "none"}.`);
    };

    const draw = () => {
      const [left, right] = [choice.left.value, choice.right.value];
      pair.replaceChildren(drawing(left, right), drawing(right, left));
      listed.replaceChildren(edgeList(left, right), edgeList(right, left));
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
