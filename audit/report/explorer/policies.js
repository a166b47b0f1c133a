// Controllers that stop by themselves and the frontier, from their tables; and what k attempts give.
"use strict";

function columnOf(table, name) { return table.columns.find((column) => column.name === name); }

// The points of the picture: from the frontier's table, which has every archive over the problems
// that all share, or from the policies of the archive in focus alone.
function cloudPoints() {
  const table = tableNamed("frontier") || tableNamed("policies"), isFrontier = table.name === "frontier";
  const focus = data.archives[state.focus];
  return table.records.map(({ archive, policy, rule, budget, cost, accuracy, ...record }) => ({
    archive, policy, rule, budget: wholeCost(budget), cost: cost === null ? null : cost * run.unit.scale, accuracy,
    share: isFrontier ? record.frontier_share : null, isOnFrontier: isFrontier ? record.on_frontier : null,
  })).filter((point) => (isFrontier || point.archive === focus) && point.accuracy !== null && point.cost !== null);
}

// Of points without a verdict of their own: those that nothing cheaper reaches.
function reached(points) {
  const best = [];
  points.slice().sort((a, b) => a.cost - b.cost || b.accuracy - a.accuracy).forEach((point) => {
    if (!best.length || point.accuracy > best[best.length - 1].accuracy) { best.push(point); }
  });
  return best;
}

function pointTitle(point) {
  return `${point.archive}, ${point.policy}, ${point.rule}, B = ${A.budgetName(run.unit, point.budget)}: ${decimal(point.accuracy, 2)} % for ${
    A.amount(run.unit, point.cost)}${point.share === null ? "" : `; on the frontier in ${decimal(point.share, 0)} % of the replicates`}`;
}

function showPolicies() {
  const hasCloud = Boolean(tableNamed("policies") || tableNamed("frontier"));
  byId("policies").hidden = !hasCloud;
  byId("no-policies").hidden = Boolean(tableNamed("policies"));
  if (!hasCloud) { return; }
  byId("policies-title").textContent = tableNamed("policies") ? "Controllers that stop by themselves"
    : "What nothing cheaper beats: the frontier";
  const archive = data.archives[state.focus], points = cloudPoints(), own = points.filter((point) => point.archive === archive);
  const names = Array.from(new Set((tableNamed("policies") || tableNamed("frontier")).records.map((record) => record.policy)));
  drawCloud(archive, points, own, names);
  const note = byId("cloud-note");
  note.replaceChildren(element("span", { text: `${archive}: ` }), ...names.map((name, shape) => {
    const item = element("span", { class: "key" });
    pictures.shapeKey(item, shape, `var(--a${shape % 10})`);
    item.append(name);
    return item;
  }), `Filled: strict; hollow: other rules. Lines join the budgets of the run; dotted: the frontier, the best accuracy at each cost${
    tableNamed("frontier") ? ", over all archives (grey) and the problems that they share; faint points are rarely on the frontier"
      : ""}. At the primary cap and selector.`);
  policyTable(archive);
}

function drawCloud(archive, points, own, names) {
  const place = byId("cloud"), table = tableNamed("policies");
  if (!own.length) {
    place.textContent = table && table.cut && !table.values.archive.includes(archive)
      ? "This page holds the first rows of the table policies, and none of this archive: budget-audit table policies prints them."
      : "No policy has an accuracy here: the archive has no labels, or shares no problem with the others.";
    return;
  }
  const lines = new Map();
  own.forEach((point) => {
    const name = `${point.policy}/${point.rule}`, shape = Math.max(0, names.indexOf(point.policy));
    if (!lines.has(name)) { lines.set(name, { rule: point.rule, shape, colour: `var(--a${shape % 10})`, points: [] }); }
    lines.get(name).points.push({ ...point, title: pointTitle(point) });
  });
  lines.forEach((line) => line.points.sort((a, b) => a.budget - b.budget));
  const xs = points.map((point) => point.cost), ys = points.map((point) => point.accuracy);
  const frontier = points[0].isOnFrontier === null ? reached(points)
    : points.filter((point) => point.isOnFrontier).sort((a, b) => a.cost - b.cost || a.accuracy - b.accuracy);
  pictures.cloud(place, {
    width: Math.max(280, place.clientWidth || 600), height: 360, lines: Array.from(lines.values()), frontier, unit: run.unit,
    others: points.filter((point) => point.archive !== archive).map((point) => ({ ...point, title: pointTitle(point) })),
    name: `accuracy against realized cost of every policy, ${archive}`,
    x: [Math.max(1, Math.min(...xs) / 1.1), Math.max(...xs) * 1.1],
    y: tens(ys),
  });
}

function policyTable(archive) {
  const table = tableNamed("policies") || tableNamed("frontier");
  const own = Array.from(table.values.archive.keys()).filter((i) => table.values.archive[i] === archive);
  dataTable(byId("policies-table"), {
    name: table.name, id: "policies-here", rows: own.length, filter: own.length > 12, most: 60,
    columns: ["policy", "rule", "budget", "accuracy", "cost", "cost_saved", "frontier_share"]
      .map((name) => columnOf(table, name)).filter(Boolean)
      .map(({ name, label, numeric, cells, keys }) => ({
        name, label, numeric, cells: own.map((i) => cells[i]), keys: own.map((i) => keys[i]),
      })),
  });
}

// pass@k, pass^k and the primary selector's accuracy over k attempts.
const AT_K = [["pass_at_k", "pass@k", "var(--a2)", false], ["majority_at_k", "", "var(--a0)", false],
  ["pass_hat_k", "pass^k", "var(--a3)", true]];

function showAtK() {
  const table = tableNamed("at_k"), archive = data.archives[state.focus];
  const own = table ? table.records.filter((record) => record.archive === archive) : [];
  byId("at-k").hidden = !own.length;
  if (!own.length) { return; }
  const place = byId("at-k-chart");
  const selector = `${data.selectors[data.primary_selector].name}@k`;
  const lines = AT_K.map(([column, name, colour, dashed]) => ({
    name: name || selector, colour, dashed, points: own.map((record) => ({
      k: record.k, value: record[column], low: record[`${column}_low`], high: record[`${column}_high`],
      title: `${name || selector}, k = ${record.k}: ${decimal(record[column], 2)} % for ${
        A.amount(run.unit, record.cost * run.unit.scale)}`,
    })),
  }));
  if (own.length === 1) {
    // One point is no curve.
    const words = lines.filter((line) => line.points[0].value !== null).map(({ name, points: [point] }) =>
      `${name.replace(/k$/, point.k)} ${decimal(point.value, 2)} %${point.low === null ? "" : ` ${range(point, 2)}`}`);
    place.replaceChildren();
    byId("at-k-note").textContent = `${archive}, one attempt a problem: ${words.join(", ")}.`;
    return;
  }
  pictures.atK(place, { width: Math.max(260, Math.min(560, place.clientWidth || 520)), height: 240, lines,
    ks: own.map((record) => record.k), name: `pass@k, pass^k and ${selector}, ${archive}` });
  byId("at-k-note").textContent = `${archive}: pass@k, one of k attempts is right; pass^k, all of them are; ${
    selector}, the one that is selected is. Whiskers: 95 % intervals over problems.`;
}
