// The picture of accuracy over the budget: lines, band, and what moves with the budget.
"use strict";

// The picture that stands; null before the first one.
let picture = null;

function colourOf(archive) { return `var(--a${Math.max(0, state.shown.indexOf(archive)) % 10})`; }
function ruleColour(archive, rule) {
  return state.shown.length === 1 ? `var(--${rule})` : colourOf(archive);
}

// The rules with a line: over the budget, rules that return the same answers share one.
function drawnRules() {
  if (state.axis === "cost") { return state.rules.map((rule) => ({ rule, name: rule })); }
  const pools = new Map();
  state.rules.forEach((rule) => {
    const { pool } = data.rule[rule];
    pools.set(pool, (pools.get(pool) || []).concat([rule]));
  });
  return Array.from(pools.values(), (rules) => ({ rule: rules[0], name: rules.join(", ") }));
}

function limits() {
  let low = Infinity, high = 1, dearest = 1, bottom = 100, top = 0;
  state.shown.forEach((archive) => {
    const view = viewOf(archive), curve = curveOf(archive);
    if (!view.problems) { return; }
    low = Math.min(low, view.smallest);
    high = Math.max(high, view.largest);
    state.rules.forEach((rule) => {
      const line = A.lineOf(curve, data.rule[rule]);
      dearest = Math.max(dearest, line.cost[line.cost.length - 1]);
      line.accuracy.forEach((value) => {
        if (!isNaN(value)) { bottom = Math.min(bottom, value); top = Math.max(top, value); }
      });
    });
  });
  if (low === Infinity) { low = 1; }
  bottom = Math.max(0, Math.floor(bottom / 10) * 10);
  top = Math.min(100, Math.ceil((top + 1) / 10) * 10);
  return { x: [Math.max(1, low), Math.max(high * 1.05, low * 2)], costs: [Math.max(1, low), Math.max(dearest * 1.1, low * 2)],
    y: bottom < top ? [bottom, top] : [0, 100] };
}

function drawCurve() {
  const place = byId("curve"), width = Math.max(280, place.clientWidth || 760);
  const tall = width < 500 ? 220 : Math.max(300, Math.min(430, window.innerHeight - 540));
  const bounds = limits(), series = [], longest = Math.max(...drawnRules().map(({ name }) => name.length));
  // Names stand at the ends of lines where there is room for them, else in a legend.
  const isNamed = state.shown.length === 1 && width >= 420 + 7 * longest;
  state.bounds = bounds;
  state.shown.forEach((archive) => {
    const curve = curveOf(archive);
    if (!viewOf(archive).problems) { return; }
    drawnRules().forEach(({ rule, name }) => {
      const line = A.lineOf(curve, data.rule[rule]), x = Array.from(state.axis === "budget" ? curve.budgets : line.cost);
      const y = Array.from(line.accuracy);
      if (state.axis === "budget") { x.push(bounds.x[1]); y.push(y[y.length - 1]); }
      series.push({ archive: data.archives[archive], rule, x, y, colour: ruleColour(archive, rule),
        dashed: rule !== "strict", end: isNamed ? name : "" });
    });
    series.push(...terminalSeries(archive, isNamed));
  });
  picture = pictures.curve(place, {
    width, height: tall, axis: state.axis, series, unit: data.unit,
    x: state.axis === "budget" ? bounds.x : bounds.costs, y: bounds.y,
    name: `accuracy of every rule over the ${state.axis === "budget" ? "budget" : "realized cost"}`,
  });
  // The slider stands under the axis.
  byId("slider").parentElement.style.margin =
    `-.2rem ${Math.max(0, width - picture.box.left - picture.box.width - 8)}px .2rem ${picture.box.left - 8}px`;
  drawLegend(isNamed);
  drawBand();
}

// The curves in the picture as CSV, in the unit; a band that is not computed yet is left empty.
function curveCsv() {
  const { rules } = state, { scale } = data.unit, names = ["archive", "budget", ...rules.map((rule) => `${rule}_accuracy`), "delta",
    "delta_low", "delta_high", "band_low", "band_high", ...rules.map((rule) => `${rule}_cost`)];
  return csvOf(names, state.shown.flatMap((archive) => {
    const curve = curveOf(archive), band = bands.get(key(archive)), own = rules.map((rule) => A.lineOf(curve, data.rule[rule]));
    return Array.from(curve.budgets, (budget, i) => [data.archives[archive], budget / scale, ...own.map((line) => line.accuracy[i]),
      curve.advisory_accuracy[i] - curve.strict_accuracy[i],
      ...["delta_low", "delta_high", "low", "high"].map((column) => (band && band.done && band.low ? band[column][i] : null)),
      ...own.map((line) => line.cost[i] / scale)]);
  }));
}

// What lines are: by their ends where one archive is shown, by keys where there are several.
function drawLegend(isNamed) {
  const keys = [];
  const add = (text, colour, kind) => {
    const line = element("i", { class: kind });
    line.style.setProperty("--colour", colour);
    keys.push(element("span", { class: "key" }, [line, text]));
  };
  if (state.shown.length > 1) {
    state.shown.slice(0, 12).forEach((archive) => {
      add(pictures.fitted(data.archives[archive], 240), colourOf(archive), "");
    });
    drawnRules().forEach(({ rule, name }) => add(name, "var(--ink)", rule === "strict" ? "" : "dashed"));
  } else if (!isNamed) {
    drawnRules().forEach(({ rule, name }) => add(name, `var(--${rule})`, rule === "strict" ? "" : "dashed"));
  }
  if (!isNamed && terminalRows(state.focus).length) { add(`strict, ${TERMINALS[shownTerminal()].name}`, "var(--forced)", "dotted"); }
  if (A.draws(viewOf(state.focus)).replicates > 1) { add("95 % interval at B", "var(--soft)", "whisker"); }
  byId("legend").replaceChildren(...keys);
}

function bandWords(archive) {
  return `Shaded: where the advisory curve may lie (95 %, all budgets together${
    state.shown.length > 1 ? `; ${data.archives[archive]}` : ""}). Where the shade touches the ${
    state.shown.length > 1 ? "solid" : "blue"} line, the rules may be equal.`;
}

function drawBand() {
  const note = byId("band-note"), archive = state.focus, curve = curveOf(archive), view = viewOf(archive);
  const clip = (value) => Math.max(state.bounds.y[0], Math.min(state.bounds.y[1], value));
  picture.band(null);
  if (state.axis !== "budget") {
    note.textContent = "Dotted: the strict budget that costs what advisory costs.";
    return;
  }
  if (!view.graded || A.draws(view).replicates < 2) {
    note.textContent = view.graded ? "No band: too few bootstrap replicates." : `No band: ${noAccuracy(archive)}.`;
    return;
  }
  if (!bands.has(key(archive))) { bands.set(key(archive), A.band(view, curve)); }
  const band = bands.get(key(archive));
  if (band.done) {
    const shifted = (values) => values.map((value, i) => clip(curve.strict_accuracy[i] + value));
    picture.band({ x: curve.budgets, colour: ruleColour(archive, "advisory"), low: shifted(band.low), high: shifted(band.high) });
    note.textContent = bandWords(archive);
    return;
  }
  note.textContent = "The band is being computed …";
  later("band", () => {
    if (bands.get(key(archive)) !== band) { return; }
    const until = performance.now() + 6;
    while (!band.done && performance.now() < until) { band.step(2); }
    if (state.focus === archive && state.axis === "budget") { drawBand(); }
  }, 8);
}

function movePicture(mean, ranges, same) {
  const lines = [], points = [];
  if (state.axis === "budget") {
    lines.push({ x: state.budget, kind: "now", text: `B = ${budgetName(state.budget)}` });
    if (state.shown.length === 1 && same.strict_budget > state.budget * 1.06) {
      lines.push({ x: same.strict_budget, kind: "same", text: "same cost", lower: 16 });
    }
  } else {
    lines.push({ x: mean.advisory_cost, kind: "same", text: "same cost" });
  }
  state.shown.forEach((archive) => {
    const view = viewOf(archive);
    if (!view.problems) { return; }
    const own = archive === state.focus ? mean : A.means(view, A.totals(view, state.budget));
    drawnRules().forEach(({ rule }) => {
      const bounds = archive === state.focus ? ranges[`${rule}_accuracy`] : null;
      points.push({
        x: state.axis === "budget" ? state.budget : own[`${rule}_cost`], y: own[`${rule}_accuracy`],
        colour: ruleColour(archive, rule), hollow: rule !== "strict",
        low: bounds ? bounds.low : undefined, high: bounds ? bounds.high : undefined,
      });
    });
  });
  if (state.shown.length === 1 || state.axis === "cost") {
    points.push({ x: state.axis === "budget" ? same.strict_budget : same.strict_cost,
      y: same.strict_accuracy, colour: "var(--tie)", hollow: true });
  }
  picture.move({ lines, points });
}
