// Does the conclusion survive? The difference between the rules under every other choice.
"use strict";

// Competitions and definitions that have a row of their own at most.
const MOST_ROWS = 24;

// Every choice as [group, name, what it sets]; the first is what is shown now.
function survivalChoices() {
  const base = { selector: state.selector, cap: state.cap, competition: state.competition, labels: state.labels };
  const others = [];
  data.selectors.forEach((selector, place) => {
    if (A.canPick(data, place, state.focus)) { others.push(["selector", selector.name, { selector: place }]); }
  });
  data.caps.forEach((cap) => others.push(["attempts", `at most ${cap}`, { cap: Math.min(cap, data.largest_cap) }]));
  if (data.repaired) {
    ["recorded", "repaired"].forEach((labels) => others.push(["grading", `${labels} labels`, { labels }]));
  }
  if (data.competitions.length > 1) {
    [null, ...data.competitions.keys()].slice(0, MOST_ROWS).forEach((competition) => others.push(
      ["competition", competition === null ? "all" : data.competitions[competition], { competition }]));
  }
  const isNow = (set) => Object.entries(set).every(([name, value]) => base[name] === value);
  return [["now", "as shown above", {}], ...others.filter(([, , set]) => !isNow(set))]
    .map(([group, name, set]) => ({ group, name, set: { ...base, ...set } }));
}

// The archive's rows of the table of definitions of a majority at this budget.
function definitions() {
  const table = tableNamed("majority_rules"), name = data.archives[state.focus];
  // Without answers there is nothing to vote on.
  if (!table || !data.answered || data !== run) { return []; }
  return table.records.filter((record) => record.archive === name && wholeCost(record.budget) === state.budget
    && record.definition !== "majority" && record.delta !== null).slice(0, MOST_ROWS);
}

function survivalRows() {
  const archive = state.focus, { budget } = state, rows = [];
  const base = A.orderRange(viewOf(archive), budget), canonical = A.canonicalDelta(viewOf(archive), budget);
  const [now, ...others] = survivalChoices();
  const measured = (choice) => {
    const view = viewOf(archive, choice.set), totals = view.problems ? A.totals(view, budget) : null;
    if (!totals) { return null; }
    const mean = A.means(view, totals);
    return { ...choice, value: mean.delta, same: A.matched(view, totals).delta, range: (A.intervals(view, totals) || {}).delta || null,
      kind: "interval", problems: view.problems,
      numbers: [mean.strict_accuracy, mean.advisory_accuracy, mean.strict_cost, mean.advisory_cost] };
  };
  rows.push(measured(now));
  if (data.orders > 1) {
    rows.push({ group: "orders", name: `each of ${data.orders} by itself`, set: now.set, value: null, range: base, kind: "range" });
  }
  rows.push({ group: "orders", name: "as recorded", set: { ...now.set, order: 0 }, value: canonical, range: null, kind: "point" });
  rows.push(...others.map(measured).filter(Boolean));
  definitions().forEach((record) => rows.push({ group: "majority", name: record.definition.replaceAll("_", " "), title: record.meaning,
    set: { ...now.set, selector: data.selectors.findIndex(({ name }) => name === "majority"), cap: data.primary_cap },
    value: record.delta, range: null, kind: "point", numbers: [record.strict_accuracy, record.advisory_accuracy] }));
  // A choice that leaves both rules' numbers as they are tests nothing.
  const isNow = (number, place) => Math.abs(number - rows[0].numbers[place]) < 1e-9;
  rows.forEach((row, place) => { row.isSame = place > 0 && Boolean(row.numbers) && row.numbers.every(isNow); });
  return rows;
}

// How many of the other choices leave a number on its side of zero, in words.
function shareWords(values, now, what) {
  const agree = values.filter((value) => Math.sign(value) === Math.sign(now)).length;
  const sign = now > 0 ? "above zero" : now < 0 ? "below zero" : "zero";
  if (values.length === 1) { return `The one other choice ${agree ? `leaves ${what} ${sign}` : `changes the sign of ${what}`}.`; }
  return `${agree === values.length ? `All ${agree}` : `${agree} of ${values.length}`} other choices leave ${what} ${sign}.`;
}

// What all rows say together; choices that change nothing are not counted.
function survivalWords(rows) {
  const [now, ...others] = rows, choices = others.filter((row) => row.value !== null && !row.isSame);
  const matched = choices.filter((row) => row.same !== undefined && row.same !== null);
  const judged = rows.filter((row) => row.range && row.kind === "interval" && !row.isSame);
  const sure = judged.filter((row) => row.range.low > 0 || row.range.high < 0).length;
  const idle = others.filter((row) => row.isSame).length;
  return [!choices.length ? "There is no other choice that changes anything." : shareWords(choices.map((row) => row.value), now.value, "it"),
    judged.length === 1 ? `The interval ${sure ? "excludes" : "does not exclude"} zero.` : `${sure} of ${judged.length} intervals exclude zero.`,
    matched.length ? shareWords(matched.map((row) => row.same), now.same, "the difference at equal cost") : "",
    idle ? `${idle === 1 ? "One choice changes" : `${idle} choices change`} nothing here and ${idle === 1 ? "is" : "are"} not counted.` : ""]
    .filter(Boolean).join(" ");
}

function setChoice(set) {
  const { order, ...choice } = set;
  Object.assign(state, choice);
  if (order !== undefined) { state.order = order; if (state.problem === null) { state.problem = tellingProblem(); } }
  change();
  byId("explorer").scrollIntoView();
}

function showSurvival() {
  const section = byId("survive"), view = viewOf(state.focus);
  section.hidden = !view.graded || !view.problems;
  if (section.hidden) { return; }
  const rows = survivalRows(), ends = rows.flatMap((row) => [row.value, row.range && row.range.low, row.range && row.range.high])
    .filter((value) => value !== null && value !== undefined);
  const low = Math.min(0, ...ends), high = Math.max(0, ...ends), room = Math.max(0.5, 0.05 * (high - low));
  byId("survive-lead").textContent = `Advisory minus strict of ${data.archives[state.focus]} at B = ${
    budgetName(state.budget)}, in points; beside it the same at equal cost. ${survivalWords(rows)} A name sets the controls.`;
  // The columns beside the bars are as wide as the style sheet says.
  const whole = section.clientWidth || 700, width = Math.max(110, Math.min(620, whole - (whole < 600 ? 282 : 628)));
  let before = "";
  byId("survive-rows").replaceChildren(...rows.map((row) => {
    const bar = element("td", { class: "bar" });
    const words = `${row.value === null ? "" : signed(row.value, 2)}${row.range ? ` ${range(row.range, 2)}` : ""}`;
    const same = row.isSame ? "changes nothing" : row.same === undefined || row.same === null ? "" : signed(row.same, 2);
    pictures.forestRow(bar, { width, low: low - room, high: high + room, value: row.value, range: row.range, kind: row.kind,
      isShown: row.group === "now", name: `${row.name}: ${words}` });
    const group = row.group === before ? "" : { now: "now", majority: "definition of majority", attempts: "attempts" }[row.group] ?? row.group;
    before = row.group;
    return element("tr", { class: `${row.kind}${row.isSame ? " idle" : ""}` }, [element("td", { class: "group", text: group }),
      element("th", { scope: "row" }, [element("button", { type: "button", class: "link", title: row.title || "", text: row.name,
        onclick: () => setChoice(row.set) })]), bar, element("td", { class: "number", text: words }), element("td", { class: "number", text: same })]);
  }));
  const hasDefinitions = data.answered && Boolean(tableNamed("majority_rules"));
  byId("survive-note").textContent = "A bar with ends is a 95 % interval; a plain bar is the range over single orders, not an interval. "
    + (hasDefinitions && !(data === run && data.budgets.includes(state.budget))
      ? `Definitions of a majority are known at the budgets of the run: ${
        run.budgets.map((budget) => A.budgetName(run.unit, budget)).join(", ")}.` : "");
}
