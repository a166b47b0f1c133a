// The numbers at the budget: the sentence, the panel beside the picture, and a row per archive.
"use strict";

function show() {
  const archive = state.focus, view = viewOf(archive), { budget } = state;
  clearTimeout(waiting.summary);
  document.querySelectorAll(".here").forEach((place) => { place.textContent = `B = ${budgetName(budget)}`; });
  if (!view.problems) {
    byId("headline").textContent = `${data.archives[archive]} has no problem of this competition.`;
    byId("numbers").replaceChildren();
    picture.move({ lines: [], points: [] });
    later("below", showBelow, 120);
    return;
  }
  const totals = A.totals(view, budget), mean = A.means(view, totals), ranges = A.intervals(view, totals) || {};
  const same = A.matched(view, totals);
  showNumbers(archive, view, totals, ranges, same);
  showHeadline(archive, view, mean, same);
  movePicture(mean, ranges, same);
  later("matched", () => {
    const exact = A.matchedIntervals(view, totals), place = byId("matched-range");
    if (place && exact && state.budget === budget && state.focus === archive) {
      place.textContent = exact.delta ? ` ${range(exact.delta, 2)}` : "";
      place.title = `95 % interval: every replicate finds its own strict budget, ${
        figure(exact.strict_budget.low)} to ${figure(exact.strict_budget.high)}`;
    }
  }, 60);
  later("below", showBelow, 120);
  later("hash", writeHash, 250);
}

// A table of cells; the first cell of a row is its name.
function cells(head, rows, kind = "") {
  const line = (row, tag) => element("tr", { class: row.kind || "", style: row.colour ? `--rule: ${row.colour}` : "" }, row.cells.map((cell, place) => element(
    place === 0 || tag === "th" ? "th" : "td",
    { ...(tag === "th" ? { scope: "col" } : place === 0 ? { scope: "row" } : {}), class: (row.classes || [])[place] || "", text: cell })));
  return element("table", { class: kind }, [element("thead", {}, [line(head, "th")]),
    element("tbody", {}, rows.map((row) => line(row, "td")))]);
}

const COST_WORDS = { completion: "realized cost, tokens", total: "realized cost, tokens", money: "realized cost",
  seconds: "realized time", steps: "realized steps" };

function money(value) { return minus(A.figure({ name: "money", scale: 1 }, value)); }

// Two rules stand side by side; more of them have a row each.
function ruleNumbers(mean, ranges) {
  const { rules } = state, measure = (name, kind, cell) => ({ kind, cells: [name, ...rules.map(cell)] });
  if (rules.length > 2) {
    const priced = (text) => (data.prompt_money ? [text] : []);
    return cells({ cells: ["rule", "accuracy, %", COST_WORDS[data.unit.name].replace("realized ", ""), ...priced("money"), "× B",
      "returned"] }, rules.map((rule) => ({
      classes: [rule], colour: `var(--${rule})`, cells: [rule, decimal(mean[`${rule}_accuracy`], 2), figure(mean[`${rule}_cost`]),
        ...priced(money(mean[`${rule}_money`])), decimal(mean[`${rule}_cost_ratio`], 2), decimal(mean[`${rule}_returned`], 2)] })), "by-rule");
  }
  return cells({ cells: ["rule", ...rules], classes: ["unseen-head", ...rules] }, [
    measure("accuracy, %", "big", (rule) => decimal(mean[`${rule}_accuracy`], 2)),
    measure("95 % interval", "range", (rule) => range(ranges[`${rule}_accuracy`], 2)),
    measure(COST_WORDS[data.unit.name], "", (rule) => figure(mean[`${rule}_cost`])),
    ...(data.prompt_money ? [measure("cost in dollars, with prompts", "", (rule) => money(mean[`${rule}_money`]))] : []),
    measure("as a multiple of B", "", (rule) => `${decimal(mean[`${rule}_cost_ratio`], 2)} ×`),
    measure("coverage, %", "", (rule) => decimal(mean[`${rule}_coverage`], 2)),
    measure("abstains, %", "", (rule) => decimal(mean[`${rule}_abstention`], 2)),
    measure("attempts returned", "", (rule) => decimal(mean[`${rule}_returned`], 2)),
  ]);
}

function showNumbers(archive, view, totals, ranges, same) {
  const mean = A.means(view, totals);
  const verdict = element("div", { class: "verdict" }), say = (...parts) => verdict.append(element("p", {}, parts));
  const note = (id, text) => verdict.append(element("p", { class: "note", id, text }));
  if (view.graded) {
    say("Same budget: advisory ", element("b", { id: "delta", text: signed(mean.delta, 2) }), " points ",
      element("span", { class: "range", id: "delta-range", text: range(ranges.delta, 2) }));
    if (ranges.detectable) {
      note("detectable", `With ${A.grouped(view.problems)} problems, a difference under ${
        decimal(ranges.detectable, 1)} points would usually be missed (80 % power).`);
    }
    say("Same cost: strict at ", element("b", { id: "matched-budget", text: amount(same.strict_budget) }), " costs as much and gives ",
      element("b", { id: "matched-accuracy", text: `${decimal(same.strict_accuracy, 2)} %` }), "; advisory ",
      element("b", { id: "matched-delta", text: signed(same.delta, 2) }), " points",
      element("span", { class: "range", id: "matched-range" }), same.exhausted ? " (every attempt is bought)" : "", ".");
  } else {
    say(`No accuracy: ${noAccuracy(archive)}.`);
    say(`Same cost: strict at ${amount(same.strict_budget)}.`);
  }
  verdict.append(...[terminalWords(archive)].filter(Boolean));
  if (data.bank_size.every((size) => size === 1)) {
    note("bank-note", "One run per problem: advisory is no cap at all.");
  } else if (mean.ended_by_bank > 5) {
    note("bank-note", `${decimal(mean.ended_by_bank, 1)
      } % of replays end because their attempts ran out, not the budget: there the rules must agree.`);
  }
  orderNote(view, totals, note);
  if (data !== run) {
    const [input, output] = data.prices[archive].map((price) => money(price / 1e6));
    note("price-note", `At the prices of the run: ${input} per million prompt tokens, ${output} per million completion tokens.`);
  }
  if (data.step_end) { note("agent-note", "A replay of recorded runs; an agent that is told its budget may act otherwise."); }
  byId("numbers").replaceChildren(element("h2", { text: data.archives[archive] }), ruleNumbers(mean, ranges), verdict);
}

// How far the choice of orders moves the two accuracies, and how far more orders would.
function orderNote(view, totals, note) {
  // 95 % of a normal distribution lie within so many standard errors.
  const error = 1.96 * A.orderError(view, totals);
  if (error < 0.05) { return; }
  const more = data.steady_orders;
  note("order-note", `${A.grouped(view.orders)} orders: these means move by about ±${decimal(error, 1)}${more <= view.orders ? ""
    : `; ${A.grouped(more)} orders would give ±${decimal(error * Math.sqrt(view.orders / more), 1)} (--orders auto)`}.`);
}

function isOpening() {
  return ["budget", "focus", "selector", "cap", "competition", "labels"].every((name) => state[name] === first[name])
    && state.shown.length === 1;
}

function showHeadline(archive, view, mean, same) {
  const parts = [], bold = (text, kind) => parts.push(element("b", { class: kind || "", text }));
  const money = data.unit.scale === 1 ? ` ${data.unit.name === "steps" ? "steps" : "tokens"}` : "";
  parts.push("With ");
  bold(budgetName(state.budget) + (state.budget === 1 ? money.slice(0, -1) : money));
  parts.push(` a problem, ${data.archives[archive]}`);
  if (!view.graded) {
    parts.push(" pays ");
    bold(`${decimal(mean.advisory_cost_ratio, 1)} times the budget`, "advisory");
    parts.push(" if the running attempt may finish.");
  } else {
    parts.push(data.answered ? " answers " : " solves ");
    bold(`${decimal(mean.strict_accuracy, 1)}\u00a0%`, "strict");
    parts.push(" when cut at the budget and ");
    bold(`${decimal(mean.advisory_accuracy, 1)}\u00a0%`, "advisory");
    parts.push(" when the running attempt may finish, which pays ");
    bold(`${decimal(mean.advisory_cost_ratio, 1)} times the budget`, "advisory");
    parts.push("; strict at the same cost reaches ");
    bold(`${decimal(same.strict_accuracy, 1)}\u00a0%`, "strict");
    const forced = terminalAt(archive, state.budget);
    if (forced && forced.accuracy !== null) {
      parts.push(`; ${TERMINALS[forced.terminal].headline}`);
      bold(`${decimal(forced.accuracy, 1)}\u00a0%`, "forced");
    }
    parts.push(".");
  }
  byId("headline").replaceChildren(...parts);
  byId("why").textContent = data === run && isOpening() && story && data.archives.length * data.budgets.length > 1 ? story.why : "";
}

// Below the fold: all of it follows the budget, a little later.

let summary = null;
function showBelow(isWhole) {
  showSummary(isWhole);
  showTimeline();
  showProblems();
  later("survive", showSurvival, isWhole ? 0 : 200);
}

// The columns of the summary, and what adds the next archive to them. What a narrow screen shows
// without scrolling comes first.
function summaryColumns() {
  const labels = { archive: "archive", strict: "strict, %", advisory: "advisory, %", delta: "difference, points",
    ...(shownTerminal() ? { forced: `${TERMINALS[shownTerminal()].name}, %` } : {}), ratio: "advisory cost / B", budget: "equal-cost strict budget", same: "difference at equal cost",
    detectable: "detectable difference", problems: "problems" };
  const columns = Object.entries(labels).map(([name, label]) => ({
    name, label, numeric: name !== "archive", cells: [], keys: [], marks: name === "archive" ? data.archives.map((archive) => quality[archive]) : null,
  }));
  const points = [];
  function add() {
    const archive = columns[0].cells.length, view = viewOf(archive), totals = A.totals(view, state.budget), mean = A.means(view, totals);
    const ranges = A.intervals(view, totals) || {}, same = view.problems ? A.matched(view, totals) : {};
    const forced = terminalAt(archive, state.budget) || { accuracy: null };
    const put = {
      forced: [forced.accuracy, forced.accuracy === null ? "" : decimal(forced.accuracy, 2)],
      archive: [data.archives[archive], data.archives[archive]],
      strict: [mean.strict_accuracy, `${decimal(mean.strict_accuracy, 2)} ${range(ranges.strict_accuracy, 2)}`],
      advisory: [mean.advisory_accuracy, `${decimal(mean.advisory_accuracy, 2)} ${range(ranges.advisory_accuracy, 2)}`],
      delta: [mean.delta, `${signed(mean.delta, 2)} ${range(ranges.delta, 2)}`],
      ratio: [mean.advisory_cost_ratio, `${decimal(mean.advisory_cost_ratio, 2)} ×`],
      budget: [same.strict_budget, same.strict_budget === undefined ? "" : figure(same.strict_budget)],
      same: [same.delta, same.delta === undefined ? "" : signed(same.delta, 2)],
      detectable: [ranges.detectable, ranges.detectable ? decimal(ranges.detectable, 1) : ""],
      problems: [view.problems, A.grouped(view.problems)],
    };
    points.push({ archive, strict: [mean.strict_cost, mean.strict_accuracy], advisory: [mean.advisory_cost, mean.advisory_accuracy] });
    columns.forEach((column) => {
      const [value, text] = put[column.name];
      column.keys.push(value === undefined ? null : value);
      column.cells.push(text);
    });
  }
  return { add, columns, points, done: () => columns[0].cells.length };
}

// Many archives take a while: the page answers in between, and rows of another budget are faint.
function showSummary(isWhole) {
  const table = summaryColumns(), place = byId("summary-table");
  clearTimeout(waiting.summary);
  place.setAttribute("aria-busy", "true");
  if (!summary) { place.textContent = "The table is being computed …"; }
  const addRows = () => {
    const until = performance.now() + SLICE;
    while (table.done() < data.archives.length && (isWhole || performance.now() < until)) { table.add(); }
    if (table.done() < data.archives.length) { later("summary", addRows, 10); return; }
    place.removeAttribute("aria-busy");
    fillSummary(table.columns);
    showPoints(table.points);
  };
  addRows();
}

// Every archive as two points of cost and accuracy, at the same budget.
function showPoints(all) {
  if (all.length < 2) { return; }
  const place = byId("points"), found = all.filter(({ strict }) => strict[1] !== null && strict[0] !== null);
  byId("points-figure").hidden = !found.length;
  if (!found.length) { return; }
  const costs = found.flatMap(({ strict, advisory }) => [strict[0], advisory[0]]);
  pictures.points(place, {
    width: Math.max(220, place.clientWidth || 300), height: Math.max(240, (byId("curve").clientHeight || 300) - 10), unit: data.unit,
    name: `accuracy against cost of every archive at B = ${budgetName(state.budget)}`,
    x: [Math.min(...costs) / 1.2, Math.max(...costs) * 1.2], y: tens(found.flatMap(({ strict, advisory }) => [strict[1], advisory[1]])),
    points: found.map(({ archive, strict, advisory }) => ({
      strict, advisory, isShown: state.shown.includes(archive), colour: state.shown.length > 1 ? colourOf(archive) : "",
      title: `${data.archives[archive]}: strict ${decimal(strict[1], 1)} % for ${amount(strict[0])}, advisory ${
        decimal(advisory[1], 1)} % for ${amount(advisory[0])}`,
      pick: () => { state.shown = [archive]; state.focus = archive; change(); } })),
  });
}

function fillSummary(columns) {
  if (summary) { summary.refill(columns); return; }
  summary = dataTable(byId("summary-table"), {
    name: "archives", id: "archives-table", columns, rows: data.archives.length, most: 60,
    filter: data.archives.length > 8, pickName: (row) => `show ${data.archives[row]}`,
    chosen: (row) => row === state.focus,
    pick: (row) => { state.shown = [row]; state.focus = row; change(); },
  });
}
