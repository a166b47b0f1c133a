// The page's arithmetic against tables that the engine has written, and against numbers by hand.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const zlib = require("node:zlib");

const A = require(path.join(__dirname, "../../audit/report/explorer/arithmetic.js"));
const cases = process.env.BUDGET_AUDIT_PAGE_CASES
  ? JSON.parse(fs.readFileSync(process.env.BUDGET_AUDIT_PAGE_CASES, "utf8")) : [];

function near(found, wanted, what) {
  if (wanted === null || wanted === undefined) {
    assert.ok(found === null || found === undefined || Number.isNaN(found), `${what}: ${found} instead of nothing`);
    return;
  }
  const room = 1e-9 * Math.max(1, Math.abs(wanted));
  assert.ok(Math.abs(found - wanted) <= room, `${what}: ${found} instead of ${wanted}`);
}

function opened(file) {
  const raw = zlib.gunzipSync(fs.readFileSync(file));
  return A.index(A.unpack(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length)));
}

function viewOf(data, row, more) {
  return A.walks(data, data.archives.indexOf(row.archive), {
    selector: data.primary_selector, cap: data.primary_cap, competition: null, ...more,
  });
}

function bankOf(data, row) {
  const problem = data.problem_question.findIndex((question, i) => question === row.question_id
    && data.competitions[data.problem_competition[i]] === row.competition);
  let bank = data.archive_start[data.archives.indexOf(row.archive)];
  while (data.bank_problem[bank] !== problem) { bank++; }
  return bank;
}

function bounds(found, row, column) {
  near(found ? found.low : null, row[`${column}_low`], `${column}_low of ${JSON.stringify(row)}`);
  near(found ? found.high : null, row[`${column}_high`], `${column}_high of ${JSON.stringify(row)}`);
}

// What a table prints of a cost or a budget, in whole numbers of the unit.
const whole = (data, value) => (value === null ? null : Math.round(value * data.unit.scale));
const COSTS = /(^|_)(budget|cost)(_low|_high)?$/;
function counted(data, row) {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name,
    typeof value !== "number" || !COSTS.test(name) ? value
      : /budget$/.test(name) || Number.isInteger(value) ? whole(data, value) : value * data.unit.scale]));
}

const CHECKS = {
  main(data, row) {
    const view = viewOf(data, row), found = A.totals(view, row.budget), mean = A.means(view, found);
    for (const name of ["strict_accuracy", "advisory_accuracy", "delta", "strict_coverage", "advisory_coverage",
      "strict_cost", "advisory_cost", "strict_cost_ratio", "advisory_cost_ratio"]) {
      near(mean[name], row[name], `${name} of ${JSON.stringify(row)}`);
    }
    bounds((A.intervals(view, found) || {}).delta, row, "delta");
  },
  curves(data, row) {
    const view = viewOf(data, row), found = A.totals(view, row.budget), mean = A.means(view, found);
    const { pool, price } = data.rule[row.rule];
    near(mean[`${row.rule}_accuracy`], row.accuracy, "accuracy");
    near(mean[`${row.rule}_cost`], row.cost, "cost");
    bounds((A.intervals(view, found) || {})[`${row.rule}_accuracy`], row, "accuracy");
    near(mean[`${row.rule}_coverage`], row.coverage, "coverage");
    bounds(view.graded ? A.intervalOf(view, found[`${pool}_covered`], 100) : null, row, "coverage");
    bounds(A.intervalOf(view, found[`${price}_cost`], 1 / row.budget), row, "cost_ratio");
  },
  selectors(data, row) {
    const selector = data.selectors.findIndex((known) => known.name === row.selector);
    const view = viewOf(data, row, { selector }), found = A.totals(view, row.budget);
    const mean = A.means(view, found);
    for (const name of ["strict_accuracy", "advisory_accuracy", "delta"]) { near(mean[name], row[name], name); }
    bounds((A.intervals(view, found) || {}).delta, row, "delta");
  },
  by_competition(data, row) {
    const competition = data.competitions.indexOf(row.competition);
    const view = viewOf(data, row, { competition }), mean = A.means(view, A.totals(view, row.budget));
    for (const name of ["strict_accuracy", "advisory_accuracy", "delta"]) { near(mean[name], row[name], name); }
  },
  cap_sensitivity(data, row) {
    const cap = Math.min(row.cap, data.largest_cap);
    const view = viewOf(data, row, { cap }), mean = A.means(view, A.totals(view, row.budget));
    near(mean.delta, row.delta, `delta at cap ${row.cap}`);
    const range = A.orderRange(view, row.budget);
    near(range.low, row.order_min, `order_min at cap ${row.cap}`);
    near(range.high, row.order_max, `order_max at cap ${row.cap}`);
  },
  // Rules alone: a row that compares archives is none of the page's.
  power(data, row) {
    if (row.other !== null) { return; }
    const view = viewOf(data, row), found = A.totals(view, row.budget), ranges = A.intervals(view, found) || {};
    near(ranges.error, row.error, "error");
    near(ranges.detectable, row.detectable, "detectable");
  },
  order_errors(data, row) {
    const view = viewOf(data, row), found = A.totals(view, row.budget);
    near(A.orderError(view, found), row.order_error, `order_error of ${JSON.stringify(row)}`);
  },
  money(data, row) {
    const view = viewOf(data, row), mean = A.means(view, A.totals(view, row.budget));
    // Attempts of steps: the page knows no prompt of a step, and tells no money.
    if (data.step_end) { assert.strictEqual(mean[`${row.rule}_money`], null); }
    else if (data.unit.name === "completion") { near(mean[`${row.rule}_money`], row.money, "money"); }
  },
  // Selector, cap, competition and labels, each with each.
  controls(data, row) {
    const selector = data.selectors.findIndex((known) => known.name === row.selector);
    const competition = data.competitions.indexOf(row.competition), cap = Math.min(row.cap, data.largest_cap);
    const chosen = { selector, cap, competition }, { pool } = data.rule[row.rule];
    const view = viewOf(data, row, chosen), found = A.totals(view, row.budget);
    const all = (values) => values.reduce((a, b) => a + b, 0), what = JSON.stringify(row);
    assert.strictEqual(view.problems * view.orders, row.replays, what);
    assert.strictEqual(all(found[`${pool}_abstained`]), row.abstained, what);
    if (!view.graded) { return; }
    assert.strictEqual(all(found[`${pool}_correct`]), row.correct, what);
    assert.strictEqual(all(found[`${pool}_covered`]), row.covered, what);
    const repaired = A.totals(viewOf(data, row, { ...chosen, labels: "repaired" }), row.budget);
    assert.strictEqual(all(repaired[`${pool}_correct`]), row.repaired, what);
    assert.strictEqual(all(repaired[`${pool}_covered`]), row.repaired_covered, what);
  },
  // Whom a selector may pick, attempt by attempt, and how many votes that makes.
  eligible(data, row) {
    const selector = data.selectors.findIndex((known) => known.name === row.selector);
    const found = A.replay(data, bankOf(data, row), 0, data.largest_cap, selector, Number.MAX_SAFE_INTEGER);
    const may = found.attempts.filter((attempt) => attempt.eligible).map((attempt) => attempt.seed);
    assert.deepStrictEqual(may, row.seeds, JSON.stringify(row));
    assert.strictEqual(found.advisory.votes.reduce((sum, [, votes]) => sum + votes, 0), may.length);
  },
  banks_that_end(data, row) {
    const view = viewOf(data, row), mean = A.means(view, A.totals(view, row.budget));
    near(mean.ended_by_bank, row.ended, `ended of ${JSON.stringify(row)}`);
  },
  taken(data, row) {
    const bank = bankOf(data, row), replay = A.replay(data, bank, row.repeat, data.primary_cap, data.primary_selector, row.budget);
    const taken = A.takenAtCut(data, bank, replay), isAnswered = taken !== null && taken.answer !== null;
    assert.strictEqual(isAnswered ? taken.tokens : null, row.admitted_at, JSON.stringify(row));
    if (row.is_checkpoint) { assert.deepStrictEqual([taken.answer, taken.label === 1], [row.answer, row.correct], JSON.stringify(row)); }
  },
  replays(data, row) {
    const selector = data.selectors.findIndex((known) => known.name === row.selector);
    const found = A.replay(data, bankOf(data, row), row.repeat, row.cap, selector, row.budget)[row.rule], { picked } = found;
    assert.deepStrictEqual(
      [found.launched, found.returned, found.cost, found.cut, picked && picked.seed, picked && picked.answer],
      [row.launched, row.returned, Math.round(row.cost), Math.round(row.prefix_cost), row.seed, row.answer], JSON.stringify(row));
    if (picked && row.correct !== null) { assert.strictEqual(picked.label === 1, row.correct, JSON.stringify(row)); }
  },
  pools(data, row) {
    const view = viewOf(data, row), mean = A.means(view, A.totals(view, row.budget));
    near(mean.strict_abstention, row.strict_abstention, "strict_abstention");
    near(mean.advisory_abstention, row.advisory_abstention, "advisory_abstention");
  },
  matched_cost(data, row) {
    const view = viewOf(data, row), found = A.totals(view, row.advisory_budget), same = A.matched(view, found);
    for (const name of ["strict_budget", "advisory_cost", "strict_cost", "advisory_accuracy", "strict_accuracy", "delta"]) {
      near(same[name], row[name], `${name} of ${JSON.stringify(row)}`);
    }
    assert.strictEqual(same.exhausted, row.exhausted, `exhausted of ${JSON.stringify(row)}`);
    const exact = A.matchedIntervals(view, found) || {};
    bounds(exact.delta, row, "delta");
    bounds(exact.strict_budget, row, "strict_budget");
    near(exact.equivalence_margin, row.equivalence_margin, "equivalence_margin");
  },
};

// The whole curve of an archive at once, band included.
function checkCurve(data, rows, points) {
  for (const archive of new Set(rows.map((row) => row.archive))) {
    const own = rows.filter((row) => row.archive === archive), view = viewOf(data, own[0]);
    const budgets = A.curveBudgets(view, points, data.budgets), found = A.curve(view, budgets);
    assert.deepStrictEqual(Array.from(budgets), own.map((row) => row.budget), `budgets of ${archive}`);
    const band = A.band(view, found);
    while (!band.step(7)) { /* a few budgets at a time, as the page does */ }
    own.forEach((row, i) => {
      for (const name of ["strict_accuracy", "advisory_accuracy", "strict_cost", "advisory_cost"]) {
        near(found[name][i], row[name], `${name} at ${row.budget}`);
      }
      if (!view.graded) { return; }
      near(band.delta[i] || 0, row.delta, `delta at ${row.budget}`);
      near(band.low ? band.low[i] : null, row.band_low, `band_low at ${row.budget}`);
      near(band.high ? band.high[i] : null, row.band_high, `band_high at ${row.budget}`);
      if (band.low) {
        near(band.delta_low[i], row.delta_low, `delta_low at ${row.budget}`);
        near(band.delta_high[i], row.delta_high, `delta_high at ${row.budget}`);
      }
    });
  }
}

for (const one of cases) {
  const read = opened(one.walks), data = one.in_money ? A.inMoney(read) : read;
  for (const [name, rows] of Object.entries(one.tables)) {
    if (name === "budget_curve") {
      test(`${one.name}: ${name}`, () => { if (rows.length) { checkCurve(data, rows.map((row) => counted(data, row)), one.curve_points); } });
    } else {
      test(`${one.name}: ${name}, ${rows.length} rows`, () => { rows.forEach((row) => CHECKS[name](data, counted(data, row))); });
    }
  }
  test(`${one.name}: the curve is what single budgets say`, () => {
    data.archives.forEach((_, archive) => {
      const view = A.walks(data, archive, { selector: 0, cap: data.largest_cap, competition: null });
      const budgets = A.curveBudgets(view, 40, data.budgets), found = A.curve(view, budgets);
      budgets.forEach((budget, i) => {
        const mean = A.means(view, A.totals(view, budget));
        for (const rule of Object.keys(data.rule)) {
          const line = A.lineOf(found, data.rule[rule]);
          near(line.accuracy[i], mean[`${rule}_accuracy`], `accuracy of ${rule} at ${budget}`);
          near(line.cost[i], mean[`${rule}_cost`], `cost of ${rule} at ${budget}`);
        }
      });
    });
  });
  test(`${one.name}: the matched strict budget is the largest that costs no more`, () => {
    const view = A.walks(data, 0, { selector: 0, cap: data.primary_cap, competition: null });
    for (const budget of [1, ...data.budgets, Math.ceil(view.largest / 2), view.largest + 5]) {
      const found = A.totals(view, budget), same = A.matched(view, found);
      const paid = (b) => A.totals(view, b).strict_cost.reduce((a, b) => a + b, 0);
      const target = found.advisory_cost.reduce((a, b) => a + b, 0);
      assert.ok(paid(same.strict_budget) <= target);
      if (same.exhausted) { assert.strictEqual(same.strict_budget, view.largest); }
      else { assert.ok(paid(same.strict_budget + 1) > target); }
    }
  });
}

// One archive, one problem, three attempts of 10, 20 and 30 tokens in one order; the second is right.
function byHand() {
  const rule = Object.fromEntries(["strict", "advisory"].map((name) => [name, { pool: name, price: name }]));
  return A.index({
    rule, words: { bank_archive: ["a"], problem_competition: ["c"], problem_name: [null], seed: ["4", "5", "6"],
      answer: [null, "7", "8"], archive_answer: [null], finish: ["stop"] },
    selectors: [{ name: "majority", votes_on: "answer" }],
    primary_selector: 0, budgets: [10], primary_cap: 3, largest_cap: 3, orders: 1, replicates: 2,
    bank_archive: Uint8Array.of(0), problem_competition: Uint8Array.of(0), problem_question: Uint8Array.of(0),
    problem_name: Uint8Array.of(0), bank_problem: Uint8Array.of(0), bank_size: Uint8Array.of(3),
    cost: Uint8Array.of(20, 10, 30), seed: Uint8Array.of(0, 1, 2), label: Uint8Array.of(1, 0, 1),
    answer: Uint8Array.of(1, 2, 1), archive_answer: Uint8Array.of(0, 0, 0), finish: Uint8Array.of(0, 0, 0),
    bank_pair: Uint8Array.of(0), pair_size: Uint8Array.of(3), order_slot: Uint8Array.of(1, 0, 2),
    // The recorded order 20, 10, 30, then the random one 10, 20, 30: ties go to the first seen.
    pick: Uint8Array.of(1, 1, 1, 1, 1, 2), eligible: Uint8Array.of(1, 1, 1), weight: Uint8Array.of(1, 0),
  });
}

test("strict returns what fits, advisory what began, at every budget", () => {
  const data = byHand(), view = A.walks(data, 0, { selector: 0, cap: 3, competition: null });
  const seen = [];
  for (const budget of [1, 9, 10, 11, 29, 30, 31, 59, 60, 61]) {
    const found = A.totals(view, budget);
    seen.push([budget, found.strict_returned[0], found.launched[0], found.strict_cost[0], found.advisory_cost[0],
      found.strict_correct[0], found.advisory_correct[0], found.strict_covered[0], found.advisory_covered[0]]);
  }
  assert.deepStrictEqual(seen, [
    [1, 0, 1, 1, 10, 0, 0, 0, 0],
    [9, 0, 1, 9, 10, 0, 0, 0, 0],
    [10, 1, 1, 10, 10, 0, 0, 0, 0],
    [11, 1, 2, 11, 30, 0, 0, 0, 1],
    [29, 1, 2, 29, 30, 0, 0, 0, 1],
    [30, 2, 2, 30, 30, 0, 0, 1, 1],
    [31, 2, 3, 31, 60, 0, 1, 1, 1],
    [59, 2, 3, 59, 60, 0, 1, 1, 1],
    [60, 3, 3, 60, 60, 1, 1, 1, 1],
    [61, 3, 3, 60, 60, 1, 1, 1, 1],
  ]);
});

test("one replay says what is cut, past the budget, voted and picked", () => {
  const found = A.replay(byHand(), 0, 1, 3, 0, 31);
  assert.deepStrictEqual(found.attempts.map((attempt) => [attempt.start, attempt.stop, attempt.answer]),
    [[0, 10, "8"], [10, 30, "7"], [30, 60, "7"]]);
  assert.deepStrictEqual([found.strict.returned, found.strict.cost, found.strict.cut], [2, 31, 1]);
  assert.deepStrictEqual([found.advisory.returned, found.advisory.cost, found.advisory.cut], [3, 60, 0]);
  assert.deepStrictEqual(found.strict.votes, [["8", 1], ["7", 1]]);
  assert.deepStrictEqual(found.advisory.votes, [["8", 1], ["7", 2]]);
  assert.strictEqual(found.strict.picked.answer, "8");
  assert.strictEqual(found.advisory.picked.position, 2);
  assert.strictEqual(A.replay(byHand(), 0, 0, 3, 0, 20).strict.picked.seed, "4");
});

test("a replicate that draws nothing is left out", () => {
  const view = A.walks(byHand(), 0, { selector: 0, cap: 3, competition: null });
  assert.strictEqual(A.draws(view).replicates, 1);
  assert.deepStrictEqual(A.intervals(view, A.totals(view, 60)).delta, { low: 0, high: 0 });
});

test("without labels accuracy is nothing, never zero", () => {
  const data = byHand();
  data.archive_graded[0] = false;
  const view = A.walks(data, 0, { selector: 0, cap: 3, competition: null }), mean = A.means(view, A.totals(view, 60));
  assert.deepStrictEqual([mean.strict_accuracy, mean.delta, mean.strict_coverage, mean.strict_cost], [null, null, null, 60]);
});

test("a selector that can pick nothing has no accuracy, and the primary one always has", () => {
  const data = byHand(), twice = (values) => Uint8Array.of(...values, ...values.map(() => 0));
  Object.assign(data, { selectors: [...data.selectors, { name: "max_logprob", votes_on: "answer" }],
    pick: twice(data.pick), eligible: twice(data.eligible) });
  const accuracy = (selector) => {
    const view = A.walks(data, 0, { selector, cap: 3, competition: null });
    return A.means(view, A.totals(view, 60)).strict_accuracy;
  };
  assert.deepStrictEqual([accuracy(0), accuracy(1)], [100, null]);
  data.primary_selector = 1;
  assert.deepStrictEqual([accuracy(0), accuracy(1)], [100, 0]);
});

test("quantiles interpolate as NumPy's do", () => {
  assert.strictEqual(A.quantile([1, 2, 3, 4], 0.5), 2.5);
  near(A.quantile([0, 10], 0.025), 0.25, "quantile");
  near(A.quantile([1, 5, 6, 100], 0.975), 92.95, "quantile");
  assert.strictEqual(A.quantile([], 0.5), null);
});

test("numbers are rounded half up, as the tables round them", () => {
  assert.strictEqual(A.rounded(12.874999999999998, 2), "12.88");
  assert.strictEqual(A.rounded(-0.705, 2), "-0.71");
  assert.strictEqual(A.rounded(-0.001, 2), "0.00");
  assert.strictEqual(A.rounded(50.125, 2), "50.13");
  assert.strictEqual(A.rounded(1234.5, 0), "1235");
  assert.strictEqual(A.rounded(null, 2), "");
  assert.strictEqual(A.grouped("1234567.25"), "1,234,567.25");
});
