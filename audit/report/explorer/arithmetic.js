// The arithmetic of the page, without a page: it reads packed arrays and returns numbers.
// A walk is one bank in one order. Its cumulative costs are looked up for any whole budget.
var arithmetic = (function () {
  "use strict";

  var TYPES = {
    u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array, i8: BigInt64Array,
  };

  // The packed form: the length of a JSON header, the header, then arrays that start at multiples
  // of eight bytes.
  function unpack(buffer) {
    var length = new DataView(buffer).getUint32(0, true);
    var header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    Object.keys(header.arrays).forEach(function (name) {
      var place = header.arrays[name];
      header[name] = new TYPES[place.type](buffer, place.offset, place.length);
    });
    delete header.arrays;
    return header;
  }

  // Where each bank's attempts, orders and selections begin in their arrays.
  function index(data) {
    var banks = data.bank_problem.length;
    data.attempt_start = new Uint32Array(banks + 1);
    data.pick_start = new Float64Array(banks + 1);
    for (var bank = 0; bank < banks; bank++) {
      var size = data.bank_size[bank];
      var steps = Math.min(size, data.largest_cap);
      data.attempt_start[bank + 1] = data.attempt_start[bank] + size;
      data.pick_start[bank + 1] = data.pick_start[bank] + steps * (data.orders + 1);
    }
    data.picks_each = data.pick_start[banks];
    var pairs = data.pair_size.length;
    data.order_start = new Float64Array(pairs + 1);
    for (var pair = 0; pair < pairs; pair++) {
      var length = Math.min(data.pair_size[pair], data.largest_cap);
      data.order_start[pair + 1] = data.order_start[pair] + length * data.orders;
    }
    return data;
  }

  // The slot at a position (from 1) of a bank in one order; repeat 0 is the recorded order.
  function slotAt(data, bank, repeat, position) {
    if (repeat === 0) { return position - 1; }
    var steps = Math.min(data.bank_size[bank], data.largest_cap);
    return data.order_slot[
      data.order_start[data.bank_pair[bank]] + (repeat - 1) * steps + position - 1];
  }

  // The position that a selector picks from a prefix; 0 where it picks nothing.
  function pickAt(data, selector, bank, repeat, position) {
    if (position === 0) { return 0; }
    var steps = Math.min(data.bank_size[bank], data.largest_cap);
    return data.pick[
      selector * data.picks_each + data.pick_start[bank] + repeat * steps + position - 1];
  }

  // All walks of one archive over its random orders, as flat arrays: what every budget needs.
  // `cost` holds cumulative costs; `correct` and `answered` say what the selector returns from the
  // prefix that ends there.
  function walks(data, archive, options) {
    var selector = options.selector, cap = options.cap, competition = options.competition;
    var first = data.archive_start[archive], last = data.archive_start[archive + 1];
    var banks = [], positions = 0;
    for (var bank = first; bank < last; bank++) {
      var problem = data.bank_problem[bank];
      if (competition === null || data.problem_competition[problem] === competition) {
        banks.push(bank);
        positions += Math.min(cap, data.bank_size[bank]) * data.orders;
      }
    }
    var count = banks.length * data.orders;
    var view = {
      data: data, archive: archive, selector: selector, cap: cap, banks: banks,
      problems: banks.length, orders: data.orders, graded: data.archive_graded[archive] === 1,
      start: new Uint32Array(count + 1), cost: new Float64Array(positions),
      correct: new Uint8Array(positions), answered: new Uint8Array(positions),
      covered: new Uint16Array(count), whole: new Float64Array(count), smallest: Infinity,
    };
    var at = 0, walk = 0, primary = data.primary_selector * data.attempt_start[data.bank_size.length];
    for (var index = 0; index < banks.length; index++) {
      bank = banks[index];
      var attempts = data.attempt_start[bank], size = data.bank_size[bank];
      var steps = Math.min(cap, size), kept = Math.min(size, data.largest_cap);
      for (var slot = 0; slot < size; slot++) {
        view.smallest = Math.min(view.smallest, data.cost[attempts + slot]);
      }
      var orders = data.order_start[data.bank_pair[bank]];
      var picks = selector * data.picks_each + data.pick_start[bank];
      for (var repeat = 1; repeat <= data.orders; repeat++, walk++) {
        var order = orders + (repeat - 1) * kept, pick = picks + repeat * kept, total = 0;
        view.start[walk] = at;
        for (var position = 1; position <= steps; position++, at++) {
          var attempt = attempts + data.order_slot[order + position - 1];
          total += data.cost[attempt];
          view.cost[at] = total;
          var chosen = data.pick[pick + position - 1];
          if (chosen > 0) {
            view.answered[at] = 1;
            if (data.label[attempts + data.order_slot[order + chosen - 1]] === 1) {
              view.correct[at] = 1;
            }
          }
          if (view.covered[walk] === 0 && data.label[attempt] === 1
              && data.eligible[primary + attempt] === 1) {
            view.covered[walk] = position;
          }
        }
        view.whole[walk] = total;
      }
    }
    view.start[count] = at;
    var sorted = Array.from(view.whole, function (_, walk) { return walk; });
    sorted.sort(function (a, b) { return view.whole[a] - view.whole[b]; });
    view.sorted = Uint32Array.from(sorted);
    view.largest = count ? view.whole[sorted[count - 1]] : 0;
    return view;
  }

  // How many of a walk's cumulative costs are below a budget.
  function below(cost, from, to, budget) {
    var low = from, high = to;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (cost[middle] < budget) { low = middle + 1; } else { high = middle; }
    }
    return low - from;
  }

  var TOTALS = ["strict_correct", "advisory_correct", "strict_abstained", "advisory_abstained",
    "strict_covered", "advisory_covered", "strict_cost", "advisory_cost", "launched", "returned",
    "ended_by_bank"];

  // Totals of each problem over its random orders at one budget, under both rules.
  function totals(view, budget) {
    var found = { budget: budget };
    TOTALS.forEach(function (name) { found[name] = new Float64Array(view.problems); });
    for (var walk = 0; walk < view.whole.length; walk++) {
      var from = view.start[walk], to = view.start[walk + 1], problem = (walk / view.orders) | 0;
      var spent = below(view.cost, from, to, budget);
      var returned = spent + (from + spent < to && view.cost[from + spent] <= budget ? 1 : 0);
      var launched = Math.min(to - from, spent + 1);
      var covered = view.covered[walk];
      if (returned > 0) {
        found.strict_correct[problem] += view.correct[from + returned - 1];
        found.strict_abstained[problem] += 1 - view.answered[from + returned - 1];
      } else {
        found.strict_abstained[problem] += 1;
      }
      if (launched > 0) {
        found.advisory_correct[problem] += view.correct[from + launched - 1];
        found.advisory_abstained[problem] += 1 - view.answered[from + launched - 1];
        found.advisory_cost[problem] += view.cost[from + launched - 1];
      }
      if (covered > 0) {
        found.strict_covered[problem] += covered <= returned ? 1 : 0;
        found.advisory_covered[problem] += covered <= launched ? 1 : 0;
      }
      found.strict_cost[problem] += Math.min(budget, view.whole[walk]);
      found.launched[problem] += launched;
      found.returned[problem] += returned;
      found.ended_by_bank[problem] += view.whole[walk] < budget ? 1 : 0;
    }
    return found;
  }

  function sum(values) {
    var total = 0;
    for (var i = 0; i < values.length; i++) { total += values[i]; }
    return total;
  }

  // The means over problems of totals at one budget; what needs a label is null without labels.
  function means(view, found) {
    var replays = view.problems * view.orders;
    function share(name, scale) { return replays ? (scale * sum(found[name])) / replays : null; }
    function labelled(name) { return view.graded ? share(name, 100) : null; }
    var strict = labelled("strict_correct"), advisory = labelled("advisory_correct");
    return {
      budget: found.budget,
      strict_accuracy: strict,
      advisory_accuracy: advisory,
      delta: strict === null ? null
        : (100 * (sum(found.advisory_correct) - sum(found.strict_correct))) / replays,
      strict_coverage: labelled("strict_covered"),
      advisory_coverage: labelled("advisory_covered"),
      strict_abstention: share("strict_abstained", 100),
      advisory_abstention: share("advisory_abstained", 100),
      strict_cost: share("strict_cost", 1),
      advisory_cost: share("advisory_cost", 1),
      strict_cost_ratio: share("strict_cost", 1 / found.budget),
      advisory_cost_ratio: share("advisory_cost", 1 / found.budget),
      launched: share("launched", 1),
      returned: share("returned", 1),
      ended_by_bank: share("ended_by_bank", 100),
    };
  }

  // How often each replicate draws each problem of a view; replicates that draw none are left out.
  // Archives with the same problems share them.
  function draws(view) {
    if (view.draws) { return view.draws; }
    var data = view.data, width = data.problem_competition.length, kept = view.problems;
    var problems = view.banks.map(function (bank) { return data.bank_problem[bank]; }).join();
    if (data.drawn && data.drawn.problems === problems) {
      view.draws = data.drawn.draws;
      return view.draws;
    }
    var counts = new Uint8Array(data.replicates * kept), drawn = new Float64Array(data.replicates);
    if (data.weight instanceof Uint16Array) { counts = new Uint16Array(counts.length); }
    var replicates = 0, most = 0;
    for (var replicate = 0; replicate < data.replicates; replicate++) {
      var from = replicate * width, to = replicates * kept, total = 0;
      for (var index = 0; index < kept; index++) {
        var weight = data.weight[from + data.bank_problem[view.banks[index]]];
        counts[to + index] = weight;
        total += weight;
      }
      if (total > 0) { drawn[replicates++] = total; }
      most = Math.max(most, total);
    }
    view.draws = { counts: counts, drawn: drawn, replicates: replicates, most: most };
    data.drawn = { problems: problems, draws: view.draws };
    return view.draws;
  }

  // Weighted sums of per-problem totals in every replicate.
  function replicateSums(view, values) {
    var found = draws(view), counts = found.counts, width = view.problems;
    var sums = new Float64Array(found.replicates);
    // A reader needs four counters to keep a processor busy.
    for (var replicate = 0, at = 0; replicate < found.replicates; replicate++) {
      var a = 0, b = 0, c = 0, d = 0, problem = 0;
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
    var place = (sorted.length - 1) * share, low = Math.floor(place);
    var high = Math.min(low + 1, sorted.length - 1), part = place - low;
    var step = sorted[high] - sorted[low];
    return part < 0.5 ? sorted[low] + step * part : sorted[high] - step * (1 - part);
  }

  // Put the value that would stand at a place of the sorted values there; smaller ones before it.
  function settle(values, place, from, to) {
    while (from < to) {
      var pivot = values[(from + to) >> 1], low = from, high = to;
      while (low <= high) {
        while (values[low] < pivot) { low++; }
        while (values[high] > pivot) { high--; }
        if (low <= high) {
          var kept = values[low];
          values[low++] = values[high];
          values[high--] = kept;
        }
      }
      if (place <= high) { to = high; } else if (place >= low) { from = low; } else { return; }
    }
  }

  // The 95 % interval; only the four values that decide it are put in their place.
  function interval(values) {
    var found = Float64Array.from(values), last = found.length - 1;
    [0.025, 0.975].forEach(function (share) {
      var place = Math.floor(last * share);
      settle(found, place, 0, last);
      if (place < last) { settle(found, place + 1, place + 1, last); }
    });
    return { low: quantile(found, 0.025), high: quantile(found, 0.975) };
  }

  // Each replicate's mean of per-problem totals, times a scale.
  function replicateMeans(view, sums, scale) {
    var drawn = draws(view).drawn, found = new Float64Array(sums.length);
    for (var i = 0; i < sums.length; i++) {
      found[i] = (scale * sums[i]) / (drawn[i] * view.orders);
    }
    return found;
  }

  function difference(left, right) {
    var found = new Float64Array(left.length);
    for (var i = 0; i < left.length; i++) { found[i] = left[i] - right[i]; }
    return found;
  }

  // Two weighted sums in one pass: a double holds two whole numbers below 2^26.
  var HALF = 67108864;
  function replicateSumPairs(view, left, right) {
    if (draws(view).most * view.orders >= HALF) {
      return [replicateSums(view, left), replicateSums(view, right)];
    }
    var both = replicateSums(view, left.map(function (value, i) { return value + HALF * right[i]; }));
    var second = both.map(function (value) { return Math.floor(value / HALF); });
    return [both.map(function (value, i) { return value - HALF * second[i]; }), second];
  }

  // The 95 % intervals that are shown while the budget moves.
  function intervals(view, found) {
    if (!view.graded || !draws(view).replicates) { return null; }
    var pair = replicateSumPairs(view, found.strict_correct, found.advisory_correct);
    var strict = pair[0], advisory = pair[1];
    return {
      strict_accuracy: interval(replicateMeans(view, strict, 100)),
      advisory_accuracy: interval(replicateMeans(view, advisory, 100)),
      delta: interval(replicateMeans(view, difference(advisory, strict), 100)),
    };
  }

  // The interval of any mean of per-problem totals.
  function intervalOf(view, values, scale) {
    return draws(view).replicates
      ? interval(replicateMeans(view, replicateSums(view, values), scale)) : null;
  }

  // The budgets of a curve: points at equal ratios from the cheapest attempt to the dearest walk,
  // and the budgets of the run.
  function curveBudgets(view, points, budgets) {
    var a = view.smallest, z = view.largest, found = new Set(budgets || []);
    if (points > 0 && z > 0) {
      for (var i = 0; i < points; i++) {
        found.add(a === z || points === 1 ? a
          : Math.floor(a * Math.pow(z / a, i / (points - 1)) + 0.5));
      }
    }
    return Float64Array.from(found).sort();
  }

  // The first budget of a sorted list that is at least a value.
  function firstAtLeast(budgets, value) { return below(budgets, 0, budgets.length, value); }

  // Both rules over a list of budgets: correct answers of each problem, and mean costs. A walk
  // changes a total only where it reaches a cost, so the changes are put in place and summed up.
  function curve(view, budgets) {
    var points = budgets.length, width = view.problems, replays = width * view.orders;
    var strict = new Int32Array((points + 1) * width), advisory = new Int32Array((points + 1) * width);
    var dearer = new Float64Array(points + 1);
    for (var walk = 0; walk < view.whole.length; walk++) {
      var from = view.start[walk], to = view.start[walk + 1], problem = (walk / view.orders) | 0;
      var before = 0, spent = 0;
      for (var at = from; at < to; at++) {
        var change = view.correct[at] - before;
        var launched = firstAtLeast(budgets, spent + 1);
        dearer[launched] += view.cost[at] - spent;
        if (change) {
          strict[firstAtLeast(budgets, view.cost[at]) * width + problem] += change;
          advisory[launched * width + problem] += change;
        }
        before = view.correct[at];
        spent = view.cost[at];
      }
    }
    var result = {
      budgets: budgets, strict: strict, advisory: advisory,
      strict_accuracy: new Float64Array(points), advisory_accuracy: new Float64Array(points),
      strict_cost: new Float64Array(points), advisory_cost: new Float64Array(points),
    };
    var costs = 0, done = 0, finished = 0;
    for (var point = 0; point < points; point++) {
      var s = 0, a = 0, row = point * width;
      for (problem = 0; problem < width; problem++) {
        if (point) {
          strict[row + problem] += strict[row - width + problem];
          advisory[row + problem] += advisory[row - width + problem];
        }
        s += strict[row + problem];
        a += advisory[row + problem];
      }
      costs += dearer[point];
      while (done < view.sorted.length && view.whole[view.sorted[done]] <= budgets[point]) {
        finished += view.whole[view.sorted[done++]];
      }
      result.strict_accuracy[point] = view.graded ? (100 * s) / replays : NaN;
      result.advisory_accuracy[point] = view.graded ? (100 * a) / replays : NaN;
      result.strict_cost[point] =
        (finished + (view.sorted.length - done) * budgets[point]) / replays;
      result.advisory_cost[point] = costs / replays;
    }
    return result;
  }

  // The simultaneous 95 % band of the difference, a few budgets at a time: call step() until it
  // returns true, then read low, high, delta_low and delta_high.
  function band(view, found) {
    var points = found.budgets.length, width = view.problems, next = 0;
    var replicates = draws(view).replicates, drawn = draws(view).drawn;
    var largest = new Float64Array(replicates), error = new Float64Array(points);
    var result = {
      delta: new Float64Array(points), delta_low: new Float64Array(points),
      delta_high: new Float64Array(points), low: null, high: null, done: false,
    };
    function one(point) {
      var values = new Float64Array(width), total = 0;
      for (var problem = 0; problem < width; problem++) {
        var place = point * width + problem;
        values[problem] = found.advisory[place] - found.strict[place];
        total += values[problem];
      }
      var delta = (100 * total) / (width * view.orders);
      result.delta[point] = delta;
      var sums = replicateSums(view, values), mean = 0, equal = true, r;
      var deltas = replicateMeans(view, sums, 100);
      for (r = 0; r < replicates; r++) {
        mean += deltas[r];
        // Doubles differ in their last bit where fractions do not.
        if (sums[r] * drawn[0] !== sums[0] * drawn[r]) { equal = false; }
      }
      var sorted = Float64Array.from(deltas).sort();
      result.delta_low[point] = quantile(sorted, 0.025);
      result.delta_high[point] = quantile(sorted, 0.975);
      if (equal) { return; }
      mean /= replicates;
      var squares = 0;
      for (r = 0; r < replicates; r++) { squares += (deltas[r] - mean) * (deltas[r] - mean); }
      error[point] = Math.sqrt(squares / (replicates - 1));
      for (r = 0; r < replicates; r++) {
        var distance = Math.abs(deltas[r] - delta) / error[point];
        if (distance > largest[r]) { largest[r] = distance; }
      }
    }
    result.step = function (count) {
      if (!view.graded || replicates < 2) { result.done = true; return true; }
      for (; count > 0 && next < points; count--) { one(next++); }
      if (next < points) { return false; }
      var reach = quantile(largest.slice().sort(), 0.95);
      result.low = result.delta.map(function (delta, i) { return delta - reach * error[i]; });
      result.high = result.delta.map(function (delta, i) { return delta + reach * error[i]; });
      result.done = true;
      return true;
    };
    return result;
  }

  // The largest whole strict budget whose weighted cost is at most a target, in integers. Strict
  // cost is linear between the walks' whole costs, which are gone through in order.
  function solve(view, target, counts, from) {
    var remaining = 0, finished = 0, budget = 0, problem;
    for (problem = 0; problem < view.problems; problem++) {
      remaining += (counts ? counts[from + problem] : 1) * view.orders;
    }
    for (var i = 0; i < view.sorted.length; i++) {
      var walk = view.sorted[i], whole = view.whole[walk];
      var weight = counts ? counts[from + ((walk / view.orders) | 0)] : 1;
      if (weight === 0) { continue; }
      if (finished + remaining * whole > target) {
        budget = Math.floor((target - finished) / remaining);
        while (finished + remaining * (budget + 1) <= target) { budget++; }
        while (finished + remaining * budget > target) { budget--; }
        return { budget: budget, exhausted: false };
      }
      finished += weight * whole;
      remaining -= weight;
      budget = whole;
    }
    return { budget: budget, exhausted: true };
  }

  // The strict budget that costs what advisory costs at a budget, and both accuracies.
  function matched(view, found) {
    var target = sum(found.advisory_cost), solved = solve(view, target, null, 0);
    var strict = totals(view, Math.max(1, solved.budget)), replays = view.problems * view.orders;
    return {
      advisory_budget: found.budget,
      strict_budget: solved.budget,
      exhausted: solved.exhausted,
      advisory_cost: target / replays,
      strict_cost: sum(strict.strict_cost) / replays,
      advisory_accuracy: view.graded ? (100 * sum(found.advisory_correct)) / replays : null,
      strict_accuracy: view.graded ? (100 * sum(strict.strict_correct)) / replays : null,
      delta: view.graded
        ? (100 * (sum(found.advisory_correct) - sum(strict.strict_correct))) / replays : null,
    };
  }

  // Its intervals: every replicate solves anew and takes its own difference. Replicates are looked
  // up in the order of their budgets, so that each change of a walk is met once.
  function matchedIntervals(view, found) {
    var sample = draws(view), counts = sample.counts, width = view.problems;
    if (!sample.replicates) { return null; }
    var targets = replicateSums(view, found.advisory_cost), budgets = new Float64Array(targets.length);
    for (var r = 0; r < targets.length; r++) {
      budgets[r] = solve(view, targets[r], counts, r * width).budget;
    }
    var result = { strict_budget: interval(budgets), delta: null, equivalence_margin: null };
    if (!view.graded) { return result; }
    var distinct = Float64Array.from(new Set(budgets)).sort();
    var strict = curve(view, distinct).strict;
    var deltas = new Float64Array(targets.length);
    for (r = 0; r < targets.length; r++) {
      var row = firstAtLeast(distinct, budgets[r]) * width, total = 0;
      for (var problem = 0; problem < width; problem++) {
        var gained = found.advisory_correct[problem] - strict[row + problem];
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
    var steps = Math.min(cap, data.bank_size[bank], data.largest_cap), spent = 0, attempts = [];
    var start = data.attempt_start[bank], all = data.attempt_start[data.bank_size.length];
    var answers = data.selectors[selector].votes_on === "archive_answer"
      ? data.archive_answer : data.answer;
    var launched = 0, returned = 0;
    for (var position = 1; position <= steps; position++) {
      var at = start + slotAt(data, bank, repeat, position), cost = data.cost[at];
      if (spent < budget) { launched = position; }
      if (spent + cost <= budget) { returned = position; }
      attempts.push({
        position: position, seed: data.seed[at], cost: cost, start: spent, stop: spent + cost,
        label: data.label[at], finish: data.finish_reasons[data.finish[at]],
        eligible: data.eligible[selector * all + at] === 1, answer: data.strings[answers[at]],
      });
      spent += cost;
    }
    function outcome(rule, count, paid) {
      var votes = new Map();
      attempts.slice(0, count).forEach(function (attempt) {
        if (attempt.eligible) { votes.set(attempt.answer, (votes.get(attempt.answer) || 0) + 1); }
      });
      var picked = pickAt(data, selector, bank, repeat, count);
      return {
        rule: rule, launched: launched, returned: count, cost: paid,
        cut: rule === "strict" && count < launched ? paid - (count ? attempts[count - 1].stop : 0) : 0,
        votes: Array.from(votes), picked: picked ? attempts[picked - 1] : null,
      };
    }
    return {
      attempts: attempts, budget: budget, whole: spent,
      strict: outcome("strict", returned, Math.min(budget, spent)),
      advisory: outcome("advisory", launched, launched ? attempts[launched - 1].stop : 0),
    };
  }

  // A number with so many decimals, halves away from zero, as the tables print it.
  function rounded(value, decimals) {
    if (value === null || value === undefined || !isFinite(value)) { return ""; }
    if (Math.abs(value) >= 1e15) { return String(value); }
    // Nine decimals first: 12.874999999999998 is a 12.875 that lost its last bit in a division.
    var text = Math.abs(value).toFixed(9), point = text.length - 10;
    var digits = BigInt(text.slice(0, point) + text.slice(point + 1));
    var unit = 10n ** BigInt(9 - decimals), whole = (digits + unit / 2n) / unit;
    var shown = whole.toString().padStart(decimals + 1, "0");
    if (decimals) { shown = shown.slice(0, -decimals) + "." + shown.slice(-decimals); }
    return value < 0 && whole !== 0n ? "-" + shown : shown;
  }

  // Thousands set apart by commas.
  function grouped(text) {
    var parts = String(text).split(".");
    parts[0] = parts[0].replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return parts.join(".");
  }

  return {
    unpack: unpack, index: index, walks: walks, totals: totals, means: means, draws: draws,
    intervals: intervals, intervalOf: intervalOf, quantile: quantile, curveBudgets: curveBudgets,
    curve: curve, band: band, matched: matched, matchedIntervals: matchedIntervals,
    replay: replay, slotAt: slotAt, pickAt: pickAt, rounded: rounded, grouped: grouped,
  };
})();

if (typeof module !== "undefined") { module.exports = arithmetic; }
