// One replay on the axis of cost: what each rule launches, returns, pays and selects.
"use strict";

function bankOf(archive, problem) {
  const last = data.archive_start[archive + 1];
  for (let bank = data.archive_start[archive]; bank < last; bank++) {
    if (data.bank_problem[bank] === problem) { return bank; }
  }
  return -1;
}

let problems = null, problemRows = [];
function problemColumns() {
  const view = viewOf(state.focus), totals = A.totals(view, state.budget), orders = view.orders;
  const cells = [[], [], [], [], []], keys = [[], [], [], [], []];
  problemRows = view.banks.map((bank) => data.bank_problem[bank]);
  problemRows.forEach((problem, i) => {
    const strict = (100 * totals.strict_correct[i]) / orders, advisory = (100 * totals.advisory_correct[i]) / orders;
    const extra = (totals.advisory_cost[i] - totals.strict_cost[i]) / orders;
    [problemName(problem), strict, advisory, advisory - strict, extra].forEach((value, place) => {
      keys[place].push(value);
      cells[place].push(place === 0 ? value : !view.graded && place < 4 ? "—"
        : place === 3 ? signed(value, 0) : place === 4 ? figure(value) : decimal(value, 0));
    });
  });
  return ["problem", "strict, %", "advisory, %", "change", `extra ${pictures.SHORT[data.unit.name]}`].map((label, place) => ({
    name: label,
    label,
    numeric: place > 0,
    cells: cells[place],
    keys: keys[place]
  }));
}

let problemsFor = null;
function showProblems() {
  const columns = problemColumns(), now = [state.focus, state.competition, data.unit.name].join("/");
  if (problems && problemsFor === now) { problems.refill(columns); return; }
  problemsFor = now;
  problems = dataTable(byId("problems"), {
    name: "problems", id: "problems-table", columns, rows: problemRows.length, most: 400,
    filter: problemRows.length > 12, sort: { place: 3, down: true },
    pickName: (row) => { return "show " + problemName(problemRows[row]); },
    chosen: (row) => { return problemRows[row] === state.problem; },
    pick: (row) => { state.problem = problemRows[row]; showTimeline(); problems.refill(); later("hash", writeHash, 50); },
  });
}

// A problem at which the rules part at this budget and strict returns something, if there is one.
function tellingProblem() {
  const view = viewOf(state.focus);
  const totals = A.totals(view, state.budget);
  let best = null;
  view.banks.forEach((bank, i) => {
    const gain = totals.advisory_correct[i] - totals.strict_correct[i];
    let score = Math.abs(gain) + (totals.strict_returned[i] > 0 ? view.orders : 0);
    if (gain === 0) { score = 0; }
    if (best === null || score > best.score) { best = { score, problem: data.bank_problem[bank] }; }
  });
  return best ? best.problem : null;
}
function tellingOrder(bank) {
  for (let pass = 0; pass < 2; pass++) {
    for (let repeat = 1; repeat <= data.orders; repeat++) {
      const replay = A.replay(data, bank, repeat, state.cap, state.selector, state.budget);
      const strict = replay.strict.picked, advisory = replay.advisory.picked;
      const parts = (strict ? strict.label : 0) !== (advisory ? advisory.label : 0);
      if (parts && (pass === 1 || replay.strict.returned > 0)) { return repeat; }
    }
  }
  return 1;
}

// The replay in the picture, for what is opened from it.
let shownReplay = null;

const LABELS = ["incorrect", "correct", "unlabelled"];
function attemptName(attempt) {
  return `attempt ${attempt.position} (seed ${attempt.seed}): ${amount(attempt.cost)}, ${attempt.finish}, ${
    attempt.answer !== null ? `answer ${attempt.answer}, ` : data.answered ? "no answer" : ""}${
    attempt.answer !== null || !data.answered ? LABELS[attempt.label] : ""}`;
}
function verdictMark(attempt) { return ["✗", "✓", ""][attempt.label]; }
function attemptLabel(attempt) {
  if (!attempt.eligible) { return data.answered ? "no vote" : "unfinished"; }
  return `${data.answered ? attempt.answer : "finished"} ${verdictMark(attempt)}`.trim();
}

// What a rule pays, in words.
function paidWords(outcome) {
  const paid = `pays ${figure(outcome.cost)}`, past = outcome.cost > state.budget ? `${figure(outcome.cost - state.budget)} past B` : "";
  if (outcome.cut) {
    return `${paid}${past && `, ${past}`}, of which ${figure(outcome.cut)} bought nothing: ${data.rule[outcome.rule].cut}`;
  }
  if (past) { return `${paid}, ${past}: the running ${outcome.rule === "step" ? "step" : "attempt"} finishes`; }
  return outcome.cost < state.budget ? `${paid}: the attempts ran out before B` : paid;
}

function outcomeWords(outcome) {
  const votes = element("span", { class: "votes" }), { picked } = outcome;
  if (data.answered) {
    outcome.votes.sort((a, b) => b[1] - a[1]).slice(0, 5).forEach(([answer, count]) => {
      const won = picked && picked.answer === answer;
      votes.append(element("span", { class: `tally${won ? " won" : ""}`, text: `${count} × ${answer}` }));
    });
  }
  const verdict = element("b", { class: picked && picked.label === 1 ? "good" : "bad" });
  verdict.textContent = !picked ? "abstains, which counts as wrong"
    : `${data.answered ? `answers ${picked.answer}` : `returns attempt ${picked.position}`}${
      [" ✗ wrong", " ✓ correct", ""][picked.label]}`;
  const { tool, sentence } = data.rule[outcome.rule], tools = Object.keys(data.rule).length > 2 && tool;
  return [element("b", { class: outcome.rule, text: outcome.rule, title: sentence }),
    element("span", { class: "votes", text: tools ? ` (${tools})` : "" }), ` returns ${outcome.returned} of ${outcome.launched} launched · ${paidWords(outcome)} · `, ...(votes.firstChild ? [votes, " → "] : []), verdict];
}

// What the terminal of the run takes from the attempt that strict cuts, in the run's own unit; and in words.
function takenOf(replay, bank) {
  const isAsked = data === run && (data.terminal !== "forced_if_empty" || state.selector === run.primary_selector);
  return isAsked ? A.takenAtCut(data, bank, replay) : null;
}
function takenWords(taken) {
  const how = data.terminal === "standing" ? "had written" : "asked for its answer";
  return !taken ? [] : [element("span", { class: "forced taken", text: ` · ${how} after ${amount(taken.tokens)}: ${
    taken.answer === null ? "none" : `${taken.answer} ${verdictMark(taken)}`.trim()}` })];
}

function rulePieces(replay, outcome, taken) {
  return replay.attempts.slice(0, replay.launched).map((attempt) => {
    const isReturned = attempt.position <= outcome.returned;
    return {
      start: attempt.start, stop: isReturned ? attempt.stop : outcome.cost, steps: attempt.steps,
      kind: !isReturned ? "cut" : attempt.eligible ? "returned" : "silent",
      label: isReturned ? attemptLabel(attempt) : outcome.rule === "strict" ? "cut" : "lost", past: state.budget,
      asked: !isReturned && taken ? taken.place : null,
      picked: outcome.picked === attempt, open: opener(attempt),
      title: (isReturned ? "" : "paid and not returned: ") + attemptName(attempt),
    };
  });
}

// The width of the axis stays while the budget moves, until it must grow.
function timelineEnd(replay) {
  const reach = 1.25 * Math.max(Math.min(state.budget, replay.whole), replay.advisory.cost);
  let end = replay.attempts[0].cost;
  while (end < reach) { end *= 1.6; }
  return Math.min(end, 1.04 * Math.max(replay.whole, 1));
}

function showTimeline() {
  const place = byId("timeline"), width = Math.max(260, place.clientWidth || 700), archive = state.focus;
  if (state.problem === null || bankOf(archive, state.problem) < 0) { state.problem = tellingProblem(); state.order = null; }
  if (state.problem === null) { place.textContent = "There is no problem to show."; shownReplay = null; return; }
  const bank = bankOf(archive, state.problem);
  if (state.order === null) { state.order = tellingOrder(bank); }
  byId("order").value = String(state.order);
  byId("replay-archive").value = String(archive);
  const replay = A.replay(data, bank, state.order, state.cap, state.selector, state.budget), end = timelineEnd(replay);
  shownReplay = { ...replay, bank };
  const lane = (id, name, words, colour, pieces) => {
    const box = element("div"), whole = element("div", { class: "lane", id: `lane-${id}` }, [element("p", {}, words), box]);
    pictures.lane(box, { id, name, width, end, budget: state.budget, colour, pieces });
    return whole;
  };
  const axis = element("div", { class: "lane" });
  pictures.costAxis(axis, { width, end, budget: state.budget, unit: data.unit });
  const order = state.order === 0 ? "in the recorded order" : `in random order ${state.order}`;
  place.replaceChildren(
    lane("bank", "the attempts of this order", [element("b", { text: problemName(state.problem) }),
      ` · ${replay.attempts.length} ${replay.attempts.length === 1 ? "attempt" : "attempts"} ${order}, end to end`], "var(--tie)", replay.attempts.map((attempt) => ({
      start: attempt.start, stop: attempt.stop, steps: attempt.steps, kind: "waiting", label: attemptLabel(attempt),
      title: attemptName(attempt), open: opener(attempt) }))),
    ...state.rules.map((rule) => {
      const taken = rule === "strict" ? takenOf(replay, bank) : null;
      return lane(rule, `${rule} stopping`, [...outcomeWords(replay[rule]), ...takenWords(taken)], `var(--${rule})`, rulePieces(replay, replay[rule], taken));
    }),
    axis, ...timelineNotes(archive));
  followAttempt();
}

function timelineNotes(archive) {
  const quoted = (text) => (/^[\w.-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  const command = (name, more) => element("code", { text: `budget-audit ${name} --archive ${quoted(data.archives[archive])} --competition ${
    quoted(data.competitions[data.problem_competition[state.problem]])} --question ${data.problem_question[state.problem]}${more}` });
  return [
    element("p", { class: "note", text: `Boxed: the attempt that is selected. Hatched: paid and thrown away. Bar below a block: paid past B.${data.terminal && data === run ? " Diamond: where a cut attempt gave an answer." : ""}${
      data.step_end ? " Thin lines: the ends of steps." : ""}${data.texts ? " Click an attempt to read it." : ""}` }),
    // The database holds walks in the unit of the run alone.
    element("p", { class: "note" }, ["What was written: ", command("show", ""), ...(data !== run ? [] : ["; this picture as a file: ",
      command("timeline", ` --repeat ${state.order} --budget ${state.budget / data.unit.scale}`)])]),
  ];
}
