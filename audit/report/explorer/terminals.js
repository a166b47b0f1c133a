// Strict stopping that asks the cut attempt for its answer: from the table of terminals, which knows the
// budgets, the cap and the selector of the run; and the budget card.
"use strict";

// What a terminal rule is called on the page, at the end of its line and in the headline; the first of these
// that the run has is shown.
const TERMINALS = {
  forced: { name: "forced answer", short: "forced", headline: "asked for its answer at the cut it reaches " },
  forced_if_empty: { name: "forced where empty", short: "forced", headline: "asked at the cut where it has no answer it reaches " },
  standing: { name: "standing answer", short: "standing", headline: "with the answer that stands in the cut text it reaches " },
  forced_after: { name: "forced after", short: "forced after", headline: "asked for its answer after the cut, past the budget, it reaches " },
};
function shownTerminal() {
  const table = tableNamed("terminals");
  return table ? Object.keys(TERMINALS).find((terminal) => table.values.terminal.includes(terminal)) : undefined;
}

// Whether the choice is the run's own, which its tables are about.
function isRunsChoice() {
  return data === run && state.selector === run.primary_selector && state.cap === Math.min(run.primary_cap, run.largest_cap)
    && state.competition === null && state.labels === "recorded";
}

// An archive's rows of the terminal that is shown, by budget; none where the table says nothing of it.
function terminalRows(archive) {
  const table = isRunsChoice() && tableNamed("terminals");
  if (!table) { return []; }
  const name = shownTerminal();
  return table.records.filter((row) => row.archive === data.archives[archive] && row.terminal === name)
    .sort((a, b) => a.budget - b.budget);
}

function terminalAt(archive, budget) { return terminalRows(archive).find((row) => wholeCost(row.budget) === budget); }

// The third line of the picture, at the budgets of the run.
function terminalSeries(archive, isNamed) {
  const rows = terminalRows(archive).filter(({ accuracy }) => accuracy !== null);
  return !rows.length ? [] : [{ archive: data.archives[archive], rule: "forced", colour: ruleColour(archive, "forced"), dotted: true,
    end: isNamed ? TERMINALS[shownTerminal()].short : "", x: rows.map((row) => wholeCost(state.axis === "budget" ? row.budget : row.cost)), y: rows.map((row) => row.accuracy) }];
}

// The sentences of the panel; beside every comparison with advisory stands what it leaves out.
function terminalWords(archive) {
  const row = terminalAt(archive, state.budget);
  if (!row || row.accuracy === null) { return null; }
  const ends = (name) => (row[`${name}_low`] === null ? null : { low: row[`${name}_low`], high: row[`${name}_high`] });
  return element("div", { id: "terminal" }, [
    element("p", {}, [`Strict, ${TERMINALS[row.terminal].name}: `, element("b", { class: "forced", text: `${decimal(row.accuracy, 2)}\u00a0%` }),
      element("span", { class: "range", text: ends("accuracy") ? ` ${range(ends("accuracy"), 2)}` : "" }), `; ${signed(row.delta, 2)} points against strict, ${
        signed(row.advisory_delta, 2)} `, element("span", { class: "range", text: range(ends("advisory_delta"), 2) }), " against advisory."]),
    element("p", { class: "note", text: "Advisory abstains where the running attempt ends by its own generation limit; a forced answer does not." }),
  ]);
}

// The card that a budget figure must be printed with, as the command writes it.
function offerCard() {
  const card = tableNamed("budget_card"), place = byId("card");
  place.hidden = !card;
  if (!card) { return; }
  place.append(element("button", { type: "button", text: "download budget-card.json",
    onclick: () => { download("budget-card.json", `${JSON.stringify({ rows: card.records }, null, 1)}\n`, "application/json"); } }));
}
