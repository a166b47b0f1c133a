// The arithmetic of the page, without a page: it reads packed arrays and returns numbers.
// A walk is one bank in one order. Its cumulative costs are looked up for any whole budget.
// Costs and budgets are whole numbers of the replay's unit; only `amount` knows how they print.
const arithmetic = (() => {
  "use strict";

  const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

  // The packed form: the length of a JSON header, the header, then arrays that start at multiples
  // of eight bytes.
  function unpack(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    Object.entries(header.arrays).forEach(([name, place]) => {
      header[name] = new TYPES[place.type](buffer, 8 + length + place.offset, place.length);
    });
    return header;
  }

  // Where lists of these lengths begin, one after the other.
  function starts(counts) {
    const begin = new Uint32Array(counts.length + 1);
    counts.forEach((count, i) => { begin[i + 1] = begin[i] + count; });
    return begin;
  }

  // Where each bank's attempts, orders and selections begin in their arrays.
  function index(data) {
    const banks = data.bank_problem.length;
    data.archives = data.words.bank_archive;
    data.competitions = data.words.problem_competition;
    data.archive_start = Uint32Array.of(...data.archives.map((_, archive) => data.bank_archive.indexOf(archive)), banks);
    data.attempt_start = starts(data.bank_size);
    // A missing label is 2.
    data.archive_graded = data.archives.map((_, archive) => !data.label.subarray(
      data.attempt_start[data.archive_start[archive]], data.attempt_start[data.archive_start[archive + 1]]).includes(2));
    data.pick_start = new Float64Array(banks + 1);
    data.bank_size.forEach((size, bank) => {
      data.pick_start[bank + 1] = data.pick_start[bank] + Math.min(size, data.largest_cap) * (data.orders + 1);
    });
    data.picks_each = data.pick_start[banks];
    // An attempt that is one step has no steps of its own.
    if (data.step_end) { data.step_start = starts(data.step_count); }
    if (data.checkpoint_count) { data.checkpoint_start = starts(data.checkpoint_count); }
    const pairs = data.pair_size.length;
    data.order_start = new Float64Array(pairs + 1);
    for (let pair = 0; pair < pairs; pair++) {
      const length = Math.min(data.pair_size[pair], data.largest_cap);
      data.order_start[pair + 1] = data.order_start[pair] + length * data.orders;
    }
    return data;
  }

  // The same records counted in money, at the prices of the run; null where it has none. Orders, what
  // selectors pick and labels are the same: only costs, steps and budgets are others.
  function inMoney(data) {
    if (!data.money_cost) { return null; }
    return index({ ...data, unit: { name: "money", scale: 1e9 }, budgets: data.money_budgets, cost: data.money_cost,
      step_count: data.money_step_count, step_end: data.money_step_end, prompt_money: undefined });
  }

  // A text of a packed column; null where there is none.
  const wordAt = (data, name, at) => data.words[name][data[name][at]];

  // The slot at a position (from 1) of a bank in one order; repeat 0 is the recorded order.
  function slotAt(data, bank, repeat, position) {
    if (repeat === 0) { return position - 1; }
    const steps = Math.min(data.bank_size[bank], data.largest_cap);
    return data.order_slot[
      data.order_start[data.bank_pair[bank]] + (repeat - 1) * steps + position - 1];
  }

  // The position that a selector picks from a prefix; 0 where it picks nothing.
  function pickAt(data, selector, bank, repeat, position) {
    if (position === 0) { return 0; }
    const steps = Math.min(data.bank_size[bank], data.largest_cap);
    return data.pick[
      selector * data.picks_each + data.pick_start[bank] + repeat * steps + position - 1];
  }

  // The ways to stop that the rules of the run need.
  const stopsOf = (data) => ["strict", "step", "advisory"].filter((stop) => stop !== "step"
    || Object.values(data.rule).some(({ pool, price }) => pool === stop || price === stop));

  // The problems of an archive, or of one competition of it.
  const banksOf = (data, archive, competition) => {
    const banks = [];
    for (let bank = data.archive_start[archive]; bank < data.archive_start[archive + 1]; bank++) {
      const problem = data.bank_problem[bank];
      if (competition === null || data.problem_competition[problem] === competition) { banks.push(bank); }
    }
    return banks;
  };

  // Whether a selector may pick any attempt of an archive.
  function canPick(data, selector, archive) {
    const all = data.attempt_start[data.bank_size.length] * selector;
    const from = data.attempt_start[data.archive_start[archive]], to = data.attempt_start[data.archive_start[archive + 1]];
    return data.eligible.subarray(all + from, all + to).includes(1);
  }

  // Whether a selector says anything of an archive: one that can pick nothing there has no accuracy, as
  // the table of selectors has no row for it. The primary selector has every archive's.
  const isUsable = (data, selector, archive) => selector === data.primary_selector || canPick(data, selector, archive);

  // All walks of one archive over its random orders, as flat arrays: what every budget needs.
  // `cost` holds cumulative costs; `correct` and `answered` say what the selector returns from the
  // prefix that ends there. Labels are the recorded ones, or those that `labels` names.
  function walks(data, archive, options) {
    const { selector, cap } = options, banks = banksOf(data, archive, options.competition);
    const labels = options.labels === "repaired" && data.repaired ? data.repaired : data.label;
    const positions = banks.reduce((sum, bank) => sum + Math.min(cap, data.bank_size[bank]) * data.orders, 0);
    const count = banks.length * data.orders;
    const view = {
      data, archive, selector, cap, banks, labels, stops: stopsOf(data),
      problems: banks.length, orders: data.orders, graded: data.archive_graded[archive] && isUsable(data, selector, archive),
      start: new Uint32Array(count + 1), cost: new Float64Array(positions),
      correct: new Uint8Array(positions), answered: new Uint8Array(positions),
      attempt: new Uint32Array(data.step_end ? positions : 0),
      prompts: new Float64Array(data.prompt_money ? positions : 0),
      covered: new Uint16Array(count), whole: new Float64Array(count), smallest: Infinity,
    };
    const primary = data.primary_selector * data.attempt_start[data.bank_size.length];
    let at = 0, walk = 0;
    for (const bank of banks) {
      const attempts = data.attempt_start[bank], size = data.bank_size[bank];
      const length = Math.min(cap, size), reached = Math.min(size, data.largest_cap);
      for (let slot = 0; slot < size; slot++) {
        view.smallest = Math.min(view.smallest, data.cost[attempts + slot]);
      }
      const orders = data.order_start[data.bank_pair[bank]];
      const picks = selector * data.picks_each + data.pick_start[bank];
      for (let repeat = 1; repeat <= data.orders; repeat++, walk++) {
        const order = orders + (repeat - 1) * reached, pick = picks + repeat * reached;
        let total = 0, prompts = 0;
        view.start[walk] = at;
        for (let position = 1; position <= length; position++, at++) {
          const attempt = attempts + data.order_slot[order + position - 1];
          total += data.cost[attempt];
          view.cost[at] = total;
          if (data.step_end) { view.attempt[at] = attempt; }
          if (data.prompt_money) { prompts += data.prompt_money[attempt]; view.prompts[at] = prompts; }
          const chosen = data.pick[pick + position - 1];
          if (chosen > 0) {
            view.answered[at] = 1;
            if (labels[attempts + data.order_slot[order + chosen - 1]] === 1) { view.correct[at] = 1; }
          }
          if (view.covered[walk] === 0 && labels[attempt] === 1 && data.eligible[primary + attempt] === 1) {
            view.covered[walk] = position;
          }
        }
        view.whole[walk] = total;
      }
    }
    view.start[count] = at;
    view.sorted = Uint32Array.from(view.whole.keys()).sort((a, b) => view.whole[a] - view.whole[b]);
    view.largest = count ? view.whole[view.sorted[count - 1]] : 0;
    return view;
  }

  // How many of a walk's cumulative costs are below a budget.
  function below(cost, from, to, budget) {
    let low = from, high = to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cost[middle] < budget) { low = middle + 1; } else { high = middle; }
    }
    return low - from;
  }

  // Where the first step ends that reaches `room` of an attempt, counted from its start; a `room`
  // beyond the last step ends with it. An attempt without steps is one step.
  function stepEnd(data, attempt, cost, room) {
    if (!data.step_end) { return cost; }
    const from = data.step_start[attempt], to = data.step_start[attempt + 1];
    if (from === to) { return cost; }
    return data.step_end[Math.min(to - 1, from + below(data.step_end, from, to, room))];
  }

  const MEASURES = ["correct", "abstained", "covered", "cost", "returned"];

  // Totals of each problem over its random orders at one budget, for every way to stop.
  function totals(view, budget) {
    const problemTotals = { budget, launched: new Float64Array(view.problems), ended_by_bank: new Float64Array(view.problems),
      prompts: new Float64Array(view.problems) };
    const sums = view.stops.map((stop) => MEASURES.map((name) => {
      problemTotals[`${stop}_${name}`] = new Float64Array(view.problems);
      return problemTotals[`${stop}_${name}`];
    }));
    for (let walk = 0; walk < view.whole.length; walk++) {
      const from = view.start[walk], to = view.start[walk + 1], problem = (walk / view.orders) | 0;
      const spent = below(view.cost, from, to, budget), launched = Math.min(to - from, spent + 1);
      const covered = view.covered[walk];
      view.stops.forEach((stop, place) => {
        let returned = launched, cost = launched ? view.cost[from + launched - 1] : 0;
        if (stop === "strict") {
          returned = spent + (from + spent < to && view.cost[from + spent] <= budget ? 1 : 0);
          cost = Math.min(budget, view.whole[walk]);
        } else if (stop === "step" && launched && view.data.step_end) {
          const before = launched > 1 ? view.cost[from + launched - 2] : 0, whole = cost - before;
          const end = stepEnd(view.data, view.attempt[from + launched - 1], whole, budget - before);
          returned = end === whole ? launched : launched - 1;
          cost = before + end;
        }
        const [correct, abstained, covers, costs, returns] = sums[place];
        if (returned > 0) {
          correct[problem] += view.correct[from + returned - 1];
          abstained[problem] += 1 - view.answered[from + returned - 1];
        } else {
          abstained[problem] += 1;
        }
        covers[problem] += covered > 0 && covered <= returned ? 1 : 0;
        costs[problem] += cost;
        returns[problem] += returned;
      });
      problemTotals.launched[problem] += launched;
      if (view.prompts.length && launched) { problemTotals.prompts[problem] += view.prompts[from + launched - 1]; }
      problemTotals.ended_by_bank[problem] += view.whole[walk] < budget ? 1 : 0;
    }
    return problemTotals;
  }

  function sum(values) {
    let total = 0;
    for (const value of values) { total += value; }
    return total;
  }

  // The means over problems of totals at one budget; what needs a label is null without labels.
  function means(view, problemTotals) {
    const replays = view.problems * view.orders;
    const share = (name, scale) => (replays ? (scale * sum(problemTotals[name])) / replays : null);
    const labelled = (name) => (view.graded ? share(name, 100) : null);
    const mean = { budget: problemTotals.budget, launched: share("launched", 1), ended_by_bank: share("ended_by_bank", 100) };
    Object.entries(view.data.rule).forEach(([rule, { pool, price }]) => {
      mean[`${rule}_accuracy`] = labelled(`${pool}_correct`);
      mean[`${rule}_coverage`] = labelled(`${pool}_covered`);
      mean[`${rule}_abstention`] = share(`${pool}_abstained`, 100);
      mean[`${rule}_returned`] = share(`${pool}_returned`, 1);
      mean[`${rule}_cost`] = share(`${price}_cost`, 1);
      // Prices are in millionths of the money that a million tokens cost.
      mean[`${rule}_money`] = !view.data.prompt_money || !replays ? null
        : (sum(problemTotals.prompts) + view.data.prices[view.archive][1] * sum(problemTotals[`${price}_cost`])) / replays / 1e12;
      mean[`${rule}_cost_ratio`] = share(`${price}_cost`, 1 / problemTotals.budget);
    });
    mean.delta = !view.graded || !replays ? null
      : (100 * (sum(problemTotals.advisory_correct) - sum(problemTotals.strict_correct))) / replays;
    return mean;
  }

  // How often each replicate draws each problem of a view; replicates that draw none are left out.
  // Archives with the same problems share them.
  function draws(view) {
    if (view.draws) { return view.draws; }
    const data = view.data, width = data.problem_competition.length, count = view.problems;
    const problems = view.banks.map(bank => data.bank_problem[bank]).join();
    if (data.drawn && data.drawn.problems === problems) {
      view.draws = data.drawn.draws;
      return view.draws;
    }
    let counts = new Uint8Array(data.replicates * count);
    const drawn = new Float64Array(data.replicates);
    if (data.weight instanceof Uint16Array) { counts = new Uint16Array(counts.length); }
    let replicates = 0, most = 0;
    for (let replicate = 0; replicate < data.replicates; replicate++) {
      const from = replicate * width;
      const to = replicates * count;
      let total = 0;
      for (let index = 0; index < count; index++) {
        const weight = data.weight[from + data.bank_problem[view.banks[index]]];
        counts[to + index] = weight;
        total += weight;
      }
      if (total > 0) { drawn[replicates++] = total; }
      most = Math.max(most, total);
    }
    view.draws = { counts, drawn, replicates, most };
    data.drawn = { problems, draws: view.draws };
    return view.draws;
  }

  // Weighted sums of per-problem totals in every replicate.
  function replicateSums(view, values) {
    const drawn = draws(view), counts = drawn.counts, width = view.problems;
    const sums = new Float64Array(drawn.replicates);
    // A reader needs four counters to keep a processor busy.
    for (let replicate = 0, at = 0; replicate < drawn.replicates; replicate++) {
      let a = 0, b = 0, c = 0, d = 0, problem = 0;
      for (; problem + 3 < width; problem += 4, at += 4) {
        a += counts[at] * values[problem];
        b += counts[at + 1] * values[problem + 1];
        c += counts[at + 2] * values[problem + 2];
        d += counts[at + 3] * values[problem + 3];
      }
      for (; problem < width; problem++, at++) { a += counts[at] * values[problem]; }
      sums[replicate] = a + b + c + d;
    }
    return sums;
  }

  // A quantile of sorted values by linear interpolation, as NumPy's default.
  function quantile(sorted, share) {
    if (!sorted.length) { return null; }
    const place = (sorted.length - 1) * share, low = Math.floor(place);
    const high = Math.min(low + 1, sorted.length - 1), part = place - low;
    const step = sorted[high] - sorted[low];
    return part < 0.5 ? sorted[low] + step * part : sorted[high] - step * (1 - part);
  }

  // Put the value that would stand at a place of the sorted values there; smaller ones before it.
  function settle(values, place, from, to) {
    while (from < to) {
      const pivot = values[(from + to) >> 1];
      let low = from;
      let high = to;
      while (low <= high) {
        while (values[low] < pivot) { low++; }
        while (values[high] > pivot) { high--; }
        if (low <= high) {
          const value = values[low];
          values[low++] = values[high];
          values[high--] = value;
        }
      }
      if (place <= high) { to = high; } else if (place >= low) { from = low; } else { return; }
    }
  }

  // The 95 % interval; only the four values that decide it are put in their place.
  function interval(values) {
    const copy = Float64Array.from(values), last = copy.length - 1;
    [0.025, 0.975].forEach(share => {
      const place = Math.floor(last * share);
      settle(copy, place, 0, last);
      if (place < last) { settle(copy, place + 1, place + 1, last); }
    });
    return { low: quantile(copy, 0.025), high: quantile(copy, 0.975) };
  }

  // Each replicate's mean of per-problem totals, times a scale.
  function replicateMeans(view, sums, scale) {
    const drawn = draws(view).drawn, values = new Float64Array(sums.length);
    for (let i = 0; i < sums.length; i++) {
      values[i] = (scale * sums[i]) / (drawn[i] * view.orders);
    }
    return values;
  }

  function difference(left, right) {
    const differences = new Float64Array(left.length);
    for (let i = 0; i < left.length; i++) { differences[i] = left[i] - right[i]; }
    return differences;
  }

  // Two weighted sums in one pass: a double holds two whole numbers below 2^26.
  const HALF = 67108864;
  function replicateSumPairs(view, left, right) {
    if (draws(view).most * view.orders >= HALF) {
      return [replicateSums(view, left), replicateSums(view, right)];
    }
    const both = replicateSums(view, left.map((value, i) => value + HALF * right[i]));
    const second = both.map(value => Math.floor(value / HALF));
    return [both.map((value, i) => value - HALF * second[i]), second];
  }

  // How far replicates lie from their mean; 0 where all are equal as fractions, because doubles
  // differ in their last bit where fractions do not.
  function errorOf(sums, drawn, values) {
    const count = values.length;
    if (sums.every((value, i) => value * drawn[0] === sums[0] * drawn[i])) { return 0; }
    const mean = sum(values) / count;
    let squares = 0;
    for (const value of values) { squares += (value - mean) * (value - mean); }
    return Math.sqrt(squares / (count - 1));
  }

  // The difference that these problems would show four times in five, in errors.
  const DETECTED = 1.959963984540054 + 0.8416212335729143;

  // The 95 % intervals that are shown while the budget moves, and the difference that could be seen.
  function intervals(view, problemTotals) {
    const drawn = draws(view);
    if (!view.graded || !drawn.replicates) { return null; }
    const [strict, advisory] = replicateSumPairs(view, problemTotals.strict_correct, problemTotals.advisory_correct);
    const gained = difference(advisory, strict), deltas = replicateMeans(view, gained, 100);
    const error = drawn.replicates < 2 ? null : errorOf(gained, drawn.drawn, deltas);
    const pools = {
      strict: interval(replicateMeans(view, strict, 100)), advisory: interval(replicateMeans(view, advisory, 100)),
    };
    const ranges = { delta: interval(deltas), error, detectable: error === null ? null : DETECTED * error };
    Object.entries(view.data.rule).forEach(([rule, { pool }]) => {
      if (!pools[pool]) { pools[pool] = intervalOf(view, problemTotals[`${pool}_correct`], 100); }
      ranges[`${rule}_accuracy`] = pools[pool];
    });
    return ranges;
  }

  // How many attempts of a walk strict and advisory return at a budget.
  function returnedBy(view, walk, budget) {
    const from = view.start[walk], to = view.start[walk + 1], spent = below(view.cost, from, to, budget);
    return {
      strict: spent + (from + spent < to && view.cost[from + spent] <= budget ? 1 : 0),
      advisory: Math.min(to - from, spent + 1),
    };
  }

  const correctAt = (view, walk, returned) => (returned ? view.correct[view.start[walk] + returned - 1] : 0);

  // The difference between the rules in each random order by itself: the smallest and the largest.
  function orderRange(view, budget) {
    if (!view.graded || !view.problems) { return null; }
    const gained = new Float64Array(view.orders);
    for (let walk = 0; walk < view.whole.length; walk++) {
      const returned = returnedBy(view, walk, budget);
      gained[walk % view.orders] += correctAt(view, walk, returned.advisory) - correctAt(view, walk, returned.strict);
    }
    const deltas = gained.map((value) => (100 * value) / view.problems);
    return { low: Math.min(...deltas), high: Math.max(...deltas) };
  }

  // The difference between the rules in the recorded order.
  function canonicalDelta(view, budget) {
    if (!view.graded || !view.problems) { return null; }
    let gained = 0;
    for (const bank of view.banks) {
      const outcome = replay(view.data, bank, 0, view.cap, view.selector, budget), labels = view.labels;
      const start = view.data.attempt_start[bank];
      const isCorrect = ({ picked }) => (picked && labels[start + picked.slot] === 1 ? 1 : 0);
      gained += isCorrect(outcome.advisory) - isCorrect(outcome.strict);
    }
    return (100 * gained) / view.problems;
  }

  // The standard error that the choice of orders leaves in the accuracies, the larger of the two;
  // null with one order, which tells nothing of others.
  function orderError(view, problemTotals) {
    if (!view.graded || view.orders < 2) { return null; }
    const { orders } = view, spread = (correct) => {
      let total = 0;
      for (const count of correct) { total += orders * count - count * count; }
      return (100 / view.problems) * Math.sqrt(total / (orders * orders * (orders - 1)));
    };
    return Math.max(spread(problemTotals.strict_correct), spread(problemTotals.advisory_correct));
  }

  // The interval of any mean of per-problem totals.
  function intervalOf(view, values, scale) {
    return draws(view).replicates
      ? interval(replicateMeans(view, replicateSums(view, values), scale)) : null;
  }

  // The budgets of a curve: points at equal ratios from the cheapest attempt to the dearest walk,
  // and the budgets of the run.
  function curveBudgets(view, points, budgets) {
    const a = view.smallest, z = view.largest, chosen = new Set(budgets || []);
    if (points > 0 && z > 0) {
      for (let i = 0; i < points; i++) {
        chosen.add(a === z || points === 1 ? a
          : Math.floor(a * Math.pow(z / a, i / (points - 1)) + 0.5));
      }
    }
    return Float64Array.from(chosen).sort();
  }

  // The first budget of a sorted list that is at least a value.
  function firstAtLeast(budgets, value) { return below(budgets, 0, budgets.length, value); }

  // Every way to stop over a list of budgets: correct answers of each problem, and mean costs. A
  // walk changes a total only where it reaches a cost, so the changes are put in place and summed up.
  function curve(view, budgets) {
    const points = budgets.length, width = view.problems, replays = width * view.orders;
    const result = { budgets };
    const from = (stop, at, spent) => {
      // The smallest budget at which the attempt that ends at `at` is returned.
      if (stop === "strict") { return view.cost[at]; }
      if (stop === "advisory" || !view.data.step_end) { return spent + 1; }
      return spent + 1 + lastStepBegins(view.data, view.attempt[at]);
    };
    view.stops.forEach((stop) => {
      const correct = new Int32Array((points + 1) * width), dearer = new Float64Array(points + 1);
      for (let walk = 0; walk < view.whole.length; walk++) {
        const problem = (walk / view.orders) | 0;
        let before = 0, spent = 0;
        for (let at = view.start[walk]; at < view.start[walk + 1]; at++) {
          const change = view.correct[at] - before;
          if (change) { correct[firstAtLeast(budgets, from(stop, at, spent)) * width + problem] += change; }
          if (stop === "step" && view.data.step_end) {
            eachStep(view.data, view.attempt[at], view.cost[at] - spent, (begin, end) => {
              dearer[firstAtLeast(budgets, spent + begin + 1)] += end - begin;
            });
          } else if (stop !== "strict") {
            dearer[firstAtLeast(budgets, spent + 1)] += view.cost[at] - spent;
          }
          before = view.correct[at];
          spent = view.cost[at];
        }
      }
      const accuracy = new Float64Array(points), cost = new Float64Array(points);
      let costs = 0, done = 0, finished = 0;
      for (let point = 0; point < points; point++) {
        const row = point * width;
        let total = 0;
        for (let problem = 0; problem < width; problem++) {
          if (point) { correct[row + problem] += correct[row - width + problem]; }
          total += correct[row + problem];
        }
        costs += dearer[point];
        while (done < view.sorted.length && view.whole[view.sorted[done]] <= budgets[point]) {
          finished += view.whole[view.sorted[done++]];
        }
        accuracy[point] = view.graded ? (100 * total) / replays : NaN;
        cost[point] = stop === "strict"
          ? (finished + (view.sorted.length - done) * budgets[point]) / replays : costs / replays;
      }
      Object.assign(result, { [stop]: correct, [`${stop}_accuracy`]: accuracy, [`${stop}_cost`]: cost });
    });
    return result;
  }

  // What a rule's line is made of.
  const lineOf = (curve, { pool, price }) => ({ accuracy: curve[`${pool}_accuracy`], cost: curve[`${price}_cost`] });

  function eachStep(data, attempt, cost, use) {
    const from = data.step_start[attempt], to = data.step_start[attempt + 1];
    if (from === to) { use(0, cost); return; }
    for (let step = from, begin = 0; step < to; step++) {
      use(begin, data.step_end[step]);
      begin = data.step_end[step];
    }
  }

  function lastStepBegins(data, attempt) {
    const from = data.step_start[attempt], to = data.step_start[attempt + 1];
    return to - from > 1 ? data.step_end[to - 2] : 0;
  }

  // The simultaneous 95 % band of the difference, a few budgets at a time: call step() until it
  // returns true, then read low, high, delta_low and delta_high.
  function band(view, curve) {
    const points = curve.budgets.length, width = view.problems, { replicates, drawn } = draws(view);
    let next = 0;
    const largest = new Float64Array(replicates), error = new Float64Array(points);
    const result = {
      delta: new Float64Array(points), delta_low: new Float64Array(points),
      delta_high: new Float64Array(points), low: null, high: null, done: false,
    };
    function addPoint(point) {
      const values = new Float64Array(width);
      let total = 0;
      for (let problem = 0; problem < width; problem++) {
        const place = point * width + problem;
        values[problem] = curve.advisory[place] - curve.strict[place];
        total += values[problem];
      }
      const delta = (100 * total) / (width * view.orders);
      result.delta[point] = delta;
      const sums = replicateSums(view, values), deltas = replicateMeans(view, sums, 100);
      const sorted = Float64Array.from(deltas).sort();
      result.delta_low[point] = quantile(sorted, 0.025);
      result.delta_high[point] = quantile(sorted, 0.975);
      error[point] = errorOf(sums, drawn, deltas);
      if (error[point] === 0) { return; }
      for (let r = 0; r < replicates; r++) {
        const distance = Math.abs(deltas[r] - delta) / error[point];
        if (distance > largest[r]) { largest[r] = distance; }
      }
    }
    result.step = (count) => {
      if (!view.graded || replicates < 2) { result.done = true; return true; }
      for (; count > 0 && next < points; count--) { addPoint(next++); }
      if (next < points) { return false; }
      const reach = quantile(largest.slice().sort(), 0.95);
      result.low = result.delta.map((delta, i) => delta - reach * error[i]);
      result.high = result.delta.map((delta, i) => delta + reach * error[i]);
      result.done = true;
      return true;
    };
    return result;
  }

  // The largest whole strict budget whose weighted cost is at most a target, in integers. Strict
  // cost is linear between the walks' whole costs, which are gone through in order.
  function solve(view, target, counts, from) {
    let remaining = 0, finished = 0, budget = 0;
    for (let problem = 0; problem < view.problems; problem++) {
      remaining += (counts ? counts[from + problem] : 1) * view.orders;
    }
    for (const walk of view.sorted) {
      const whole = view.whole[walk];
      const weight = counts ? counts[from + ((walk / view.orders) | 0)] : 1;
      if (weight === 0) { continue; }
      if (finished + remaining * whole > target) {
        budget = Math.floor((target - finished) / remaining);
        while (finished + remaining * (budget + 1) <= target) { budget++; }
        while (finished + remaining * budget > target) { budget--; }
        return { budget, exhausted: false };
      }
      finished += weight * whole;
      remaining -= weight;
      budget = whole;
    }
    return { budget, exhausted: true };
  }

  // The strict budget that costs what advisory costs at a budget, and both accuracies.
  function matched(view, problemTotals) {
    const target = sum(problemTotals.advisory_cost), solved = solve(view, target, null, 0);
    const strict = totals(view, Math.max(1, solved.budget)), replays = view.problems * view.orders;
    return {
      advisory_budget: problemTotals.budget,
      strict_budget: solved.budget,
      exhausted: solved.exhausted,
      advisory_cost: target / replays,
      strict_cost: sum(strict.strict_cost) / replays,
      advisory_accuracy: view.graded ? (100 * sum(problemTotals.advisory_correct)) / replays : null,
      strict_accuracy: view.graded ? (100 * sum(strict.strict_correct)) / replays : null,
      delta: view.graded
        ? (100 * (sum(problemTotals.advisory_correct) - sum(strict.strict_correct))) / replays : null,
    };
  }

  // Its intervals: every replicate solves anew and takes its own difference. Replicates are looked
  // up in the order of their budgets, so that each change of a walk is met once.
  function matchedIntervals(view, problemTotals) {
    const sample = draws(view), counts = sample.counts, width = view.problems;
    if (!sample.replicates) { return null; }
    const targets = replicateSums(view, problemTotals.advisory_cost), budgets = new Float64Array(targets.length);
    for (let r = 0; r < targets.length; r++) {
      budgets[r] = solve(view, targets[r], counts, r * width).budget;
    }
    const result = { strict_budget: interval(budgets), delta: null, equivalence_margin: null };
    if (!view.graded) { return result; }
    const distinct = Float64Array.from(new Set(budgets)).sort();
    const strict = curve(view, distinct).strict;
    const deltas = new Float64Array(targets.length);
    for (let r = 0; r < targets.length; r++) {
      const row = firstAtLeast(distinct, budgets[r]) * width;
      let total = 0;
      for (let problem = 0; problem < width; problem++) {
        const gained = problemTotals.advisory_correct[problem] - strict[row + problem];
        total += counts[r * width + problem] * gained;
      }
      deltas[r] = (100 * total) / (sample.drawn[r] * view.orders);
    }
    deltas.sort();
    result.delta = { low: quantile(deltas, 0.025), high: quantile(deltas, 0.975) };
    result.equivalence_margin =
      Math.max(Math.abs(quantile(deltas, 0.05)), Math.abs(quantile(deltas, 0.95)));
    return result;
  }

  // One replay at one budget: every attempt, and what each rule launches, returns, pays and picks.
  function replay(data, bank, repeat, cap, selector, budget) {
    const length = Math.min(cap, data.bank_size[bank], data.largest_cap), attempts = [];
    const start = data.attempt_start[bank], all = data.attempt_start[data.bank_size.length];
    const votes = data.selectors[selector].votes_on === "archive_answer" ? "archive_answer" : "answer";
    let launched = 0, returned = 0, spent = 0;
    for (let position = 1; position <= length; position++) {
      const slot = slotAt(data, bank, repeat, position), at = start + slot, cost = data.cost[at], steps = [];
      if (spent < budget) { launched = position; }
      if (spent + cost <= budget) { returned = position; }
      if (data.step_end) { eachStep(data, at, cost, (begin, end) => steps.push(end)); }
      attempts.push({
        position, slot, seed: wordAt(data, "seed", at), cost, start: spent, stop: spent + cost, steps,
        label: data.label[at], finish: wordAt(data, "finish", at),
        eligible: data.eligible[selector * all + at] === 1, answer: wordAt(data, votes, at),
      });
      spent += cost;
    }
    const last = attempts[launched - 1], replayed = { attempts, budget, whole: spent, launched };
    const end = last ? stepEnd(data, start + last.slot, last.cost, budget - last.start) : 0;
    const pools = { strict: returned, step: last && end === last.cost ? launched : launched - 1, advisory: launched };
    const prices = { strict: Math.min(budget, spent), step: last ? last.start + end : 0, advisory: last ? last.stop : 0 };
    Object.entries(data.rule).forEach(([rule, { pool, price }]) => {
      const count = pools[pool], cost = prices[price], votes = new Map();
      attempts.slice(0, count).forEach((attempt) => {
        if (attempt.eligible) { votes.set(attempt.answer, (votes.get(attempt.answer) || 0) + 1); }
      });
      const picked = pickAt(data, selector, bank, repeat, count);
      replayed[rule] = {
        rule, launched, returned: count, cost, cut: cost - (count ? attempts[count - 1].stop : 0),
        votes: Array.from(votes), picked: picked ? attempts[picked - 1] : null,
      };
    });
    return replayed;
  }

  // The checkpoint that the terminal of the page takes from the attempt that strict cuts; null where it
  // takes none.
  function takenAtCut(data, bank, replayed) {
    const attempt = replayed.attempts[replayed.strict.returned];
    if (!data.terminal || !attempt || !(replayed.strict.cut > 0)) { return null; }
    const isEmpty = !replayed.attempts.slice(0, replayed.strict.returned).some(({ eligible }) => eligible);
    if (data.terminal === "forced_if_empty" && !isEmpty) { return null; }
    const at = data.attempt_start[bank] + attempt.slot, left = replayed.budget - attempt.start;
    let tokens = 0, taken = null;
    for (let i = data.checkpoint_start[at]; i < data.checkpoint_start[at + 1]; i++) {
      tokens += data.checkpoint_gap[i];
      if (tokens + (data.terminal === "forced_after" ? 0 : data.checkpoint_cost[i]) <= left) {
        taken = { tokens, place: attempt.start + tokens, answer: wordAt(data, "checkpoint_answer", i), label: data.checkpoint_label[i] };
      }
    }
    return taken;
  }

  // A number with so many decimals, halves away from zero, as the tables print it.
  function rounded(value, decimals) {
    if (value === null || value === undefined || !isFinite(value)) { return ""; }
    if (Math.abs(value) >= 1e15) { return String(value); }
    // Nine decimals first: 12.874999999999998 is a 12.875 that lost its last bit in a division.
    const text = Math.abs(value).toFixed(9), point = text.length - 10;
    const digits = BigInt(text.slice(0, point) + text.slice(point + 1));
    const unit = 10n ** BigInt(9 - decimals), whole = (digits + unit / 2n) / unit;
    let shown = whole.toString().padStart(decimals + 1, "0");
    if (decimals) { shown = shown.slice(0, -decimals) + "." + shown.slice(-decimals); }
    return value < 0 && whole !== 0n ? "-" + shown : shown;
  }

  // Thousands set apart by commas.
  function grouped(text) {
    const parts = String(text).split(".");
    parts[0] = parts[0].replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return parts.join(".");
  }

  // The digits of an amount in the printed unit, as `units.py` writes them: three that count, no digit
  // before the point lost, none invented; money has no decimals or at least two.
  function digits(unit, value) {
    if (Number.isInteger(value)) { return grouped(value); }
    const before = Math.floor(Math.log10(Math.abs(value))) + 1, isMoney = unit.name === "money";
    const text = rounded(value, Math.min(9, Math.max(3 - before, isMoney && before > 0 ? 2 : 0)));
    const [whole, rest = ""] = text.split("."), decimals = rest.replace(/0+$/, "");
    if (!decimals) { return grouped(whole); }
    return `${grouped(whole)}.${isMoney ? decimals.padEnd(2, "0") : decimals}`;
  }

  // A cost as people write it: 4,096, $0.0374, 12.4 s, 3.4.
  function figure(unit, cost) {
    if (cost === null || cost === undefined || Number.isNaN(cost)) { return "—"; }
    // Nine decimals first: 7485.499999999999 is a 7485.5 that lost its last bit in a division.
    const text = digits(unit, Number((cost / unit.scale).toFixed(9)));
    if (unit.name === "money") { return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`; }
    return unit.name === "seconds" ? `${text} s` : text;
  }

  // The same with the word that tokens and steps need.
  function amount(unit, cost) {
    const text = figure(unit, cost), word = { completion: "token", total: "token", steps: "step" }[unit.name];
    return word ? `${text} ${word}${text === "1" ? "" : "s"}` : text;
  }

  // A budget as people say it: 4k, $0.05, 90 s; one that three digits would round keeps six.
  function budgetName(unit, budget) {
    const value = budget / unit.scale, isTokens = unit.name === "completion" || unit.name === "total";
    if (isTokens && value && value % 1000 === 0) { return `${grouped(value / 1000)}k`; }
    const short = figure(unit, budget);
    if (Number.isInteger(value) || Number(value.toPrecision(3)) === value) { return short; }
    const text = grouped(String(Number(value.toPrecision(6))));
    return unit.name === "money" ? `$${text}` : `${text} s`;
  }

  // A value of a table as the command line prints it, by the format of its column.
  function cell(unit, format, value) {
    if (value === null || value === undefined) { return ""; }
    if (typeof value !== "number") { return String(value); }
    if (format === "budget" && unit.scale === 1) { return budgetName(unit, value); }
    if (format === "cost" || format === "budget") { return figure(unit, value * unit.scale); }
    if (format === "money") { return figure({ name: "money", scale: 1 }, value); }
    if (format === "0") { return grouped(rounded(value, 0)); }
    if (format) { return rounded(value, Number(format)); }
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  }

  // A budget for a place of the slider: whole tokens and steps, three digits of anything finer.
  function rounding(unit, budget) {
    const whole = Math.max(1, Math.round(budget));
    if (unit.scale === 1) { return whole; }
    const step = 10 ** Math.max(0, Math.floor(Math.log10(whole)) - 2);
    return Math.round(whole / step) * step;
  }

  return {
    unpack, index, inMoney, canPick, isUsable, walks, totals, means, draws, intervals, intervalOf, orderRange, orderError, canonicalDelta, quantile, curveBudgets, curve,
    lineOf, band, matched, matchedIntervals, replay, takenAtCut, slotAt, pickAt, wordAt, rounded, grouped, figure, amount, budgetName,
    rounding, cell,
  };
})();

if (typeof module !== "undefined") { module.exports = arithmetic; }
