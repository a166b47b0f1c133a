// The pictures of the page, drawn as SVG from plain numbers. Texts from archives go in as text
// nodes, never as markup.
const pictures = (() => {
  "use strict";

  const SPACE = "http://www.w3.org/2000/svg";

  function draw(parent, tag, attributes, text) {
    const element = document.createElementNS(SPACE, tag);
    Object.keys(attributes || {}).forEach((name) => {
      element.setAttribute(name, attributes[name]);
    });
    if (text !== undefined) { element.textContent = text; }
    parent.appendChild(element);
    return element;
  }

  function canvas(parent, width, height, name) {
    parent.textContent = "";
    return draw(parent, "svg", {
      viewBox: "0 0 " + width + " " + height, width, height, role: "img",
      "aria-label": name,
    });
  }

  // A number on an axis as people say it: 4k, 1.5M, $0.02, 90 s.
  function tick(unit, value) {
    const shown = value / unit.scale;
    if (unit.scale !== 1) { return arithmetic.budgetName(unit, value); }
    if (shown >= 1e6 && shown % 1e5 === 0) { return `${shown / 1e6}M`; }
    if (shown >= 1000 && shown % 100 === 0) { return `${arithmetic.grouped(shown / 1000)}k`; }
    return arithmetic.grouped(Math.round(shown));
  }

  const TITLES = {
    completion: "completion tokens", total: "prompt and completion tokens", money: "$", seconds: "seconds", steps: "steps",
  };

  // The same in a word, for the head of a column.
  const SHORT = { ...TITLES, completion: "tokens", total: "tokens" };

  function logTicks(low, high, most) {
    let ticks = [];
    for (const digits of [[1, 2, 5], [1, 3], [1]]) {
      ticks = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1; power++) {
        for (const digit of digits) {
          const value = digit * 10 ** power;
          if (value >= low && value <= high && value >= 1) { ticks.push(value); }
        }
      }
      if (ticks.length <= most) { break; }
    }
    // A short axis may hold no more than one of these: equal steps then.
    return ticks.length > 1 ? ticks : evenTicks(low, high, Math.min(4, most));
  }

  function evenTicks(low, high, most) {
    const rough = (high - low) / most, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].find((digit) => digit * power >= rough) * power;
    const ticks = [];
    for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) {
      ticks.push(Math.round(value * 1e6) / 1e6);
    }
    return ticks;
  }

  function path(xs, ys) {
    let text = "", open = false;
    for (let i = 0; i < xs.length; i++) {
      if (!isFinite(ys[i])) { open = false; continue; }
      text += (open ? "L" : "M") + xs[i].toFixed(1) + " " + ys[i].toFixed(1);
      open = true;
    }
    return text;
  }

  // Axes with a logarithmic x and an even y; returns the scales.
  function axes(svg, box, x, y, titles) {
    function acrossLog(value) {
      const share = Math.log(Math.max(value, x[0]) / x[0]) / Math.log(x[1] / x[0]);
      return box.left + Math.min(1, share) * box.width;
    }
    function down(value) { return box.top + (1 - (value - y[0]) / (y[1] - y[0])) * box.height; }
    const under = draw(svg, "g", { class: "tick" });
    evenTicks(y[0], y[1], Math.max(2, box.height / 45)).forEach((value) => {
      const at = down(value);
      draw(under, "line", { x1: box.left, x2: box.left + box.width, y1: at, y2: at, class: "grid" });
      draw(under, "text", { x: box.left - 7, y: at + 4, "text-anchor": "end" }, String(value));
    });
    const bottom = box.top + box.height;
    (titles.ticks || logTicks(x[0], x[1], box.width / 52)).forEach((value) => {
      const at = acrossLog(value);
      draw(under, "line", { x1: at, x2: at, y1: bottom, y2: bottom + 5, class: "axis" });
      draw(under, "text", { x: at, y: bottom + 18, "text-anchor": "middle" }, titles.unit ? tick(titles.unit, value) : String(value));
    });
    draw(under, "line", { x1: box.left, x2: box.left + box.width, y1: bottom, y2: bottom, class: "axis" });
    draw(svg, "text", { x: box.left, y: box.top - 9, class: "soft" }, titles.y);
    draw(svg, "text", { x: box.left + box.width, y: bottom + 35, "text-anchor": "end", class: "soft" }, titles.x);
    return { across: acrossLog, down, bottom };
  }

  // A picture with axes, and room for names to the right of them.
  function plot(parent, spec, room, titles) {
    const svg = canvas(parent, spec.width, spec.height, spec.name);
    const box = { left: 38, top: 24, width: spec.width - 38 - room, height: spec.height - 24 - 42 };
    return { svg, box, scale: axes(svg, box, spec.x, spec.y, { y: "accuracy, %", unit: spec.unit, ...titles }) };
  }

  // Names at the ends of lines, pushed apart where they would lie on each other.
  function endNames(svg, box, names) {
    const sorted = names.slice().sort((a, b) => a.y - b.y);
    let above = -Infinity;
    for (const name of sorted) { name.at = Math.max(name.y, above + 13); above = name.at; }
    let below = box.top + box.height + 13;
    for (const name of sorted.reverse()) { name.at = Math.min(name.at, below - 13); below = name.at; }
    for (const name of sorted) {
      draw(svg, "line", { x1: name.x + 2, y1: name.y, x2: name.x + 9, y2: name.at, style: `stroke: ${name.colour}` });
      draw(svg, "text", { x: name.x + 12, y: name.at + 4, class: "end", style: `fill: ${name.colour}` }, name.text);
    }
  }

  // Accuracy over budget or cost: one line per archive and rule, the band of the difference, and a
  // line that moves.
  function curve(parent, spec) {
    const named = spec.series.filter((series) => series.end);
    const room = named.length ? 16 + 7 * Math.max(...named.map((series) => series.end.length)) : 14;
    const { svg, box, scale } = plot(parent, spec, room, {
      x: `${spec.axis === "budget" ? "budget B" : "realized cost, mean"}, ${TITLES[spec.unit.name]}` });
    function trace(xs, ys) {
      return path(Array.from(xs, scale.across), Array.from(ys, scale.down));
    }
    const shade = draw(svg, "path", { class: "band", d: "" });
    spec.series.forEach((series) => {
      draw(svg, "path", {
        class: `line${series.dashed ? " dashed" : ""}${series.dotted ? " dotted" : ""}`, d: trace(series.x, series.y),
        style: "stroke: " + series.colour, "data-archive": series.archive, "data-rule": series.rule,
      });
    });
    endNames(svg, box, named.filter((series) => isFinite(series.y[series.y.length - 1])).map((series) => ({
      x: scale.across(series.x[series.x.length - 1]), y: scale.down(series.y[series.y.length - 1]),
      text: series.end, colour: series.colour,
    })));
    const moving = draw(svg, "g", { class: "moving" });
    return {
      box,
      // The value under a place of the picture, in the picture's own units.
      valueAt: (place) => {
        const share = Math.max(0, Math.min(1, (place - box.left) / box.width));
        return spec.x[0] * Math.pow(spec.x[1] / spec.x[0], share);
      },
      band: (shape) => {
        if (!shape) { shade.setAttribute("d", ""); return; }
        const there = trace(shape.x, shape.high);
        const back = trace(Array.from(shape.x).reverse(), Array.from(shape.low).reverse());
        shade.setAttribute("d", there + back.replace("M", "L") + "Z");
        shade.setAttribute("style", "fill: " + shape.colour);
      },
      move: (now) => {
        moving.textContent = "";
        now.lines.forEach((line) => {
          const at = scale.across(line.x);
          draw(moving, "line", { x1: at, x2: at, y1: box.top, y2: scale.bottom, class: line.kind });
          if (line.text) {
            const end = at > box.left + box.width - 90;
            draw(moving, "text", {
              x: at + (end ? -6 : 6), y: box.top + 8 + (line.lower || 0), class: "halo",
              "text-anchor": end ? "end" : "start", "font-weight": line.kind === "now" ? 650 : 400,
            }, line.text);
          }
        });
        now.points.forEach((point) => {
          if (point.y === null) { return; }
          const x = scale.across(point.x),
                style = "stroke: " + point.colour + "; fill: "
                  + (point.hollow ? "var(--paper)" : point.colour);
          if (point.low !== undefined) {
            draw(moving, "line", {
              x1: x, x2: x, y1: scale.down(Math.max(spec.y[0], point.low)), y2: scale.down(Math.min(spec.y[1], point.high)), style,
              "stroke-width": 3, opacity: 0.55,
            });
          }
          draw(moving, "circle", {
            cx: x, cy: scale.down(point.y), r: 5, style, "stroke-width": 2,
          });
        });
      },
    };
  }

  // A row of attempts on the axis of cost; every piece says what it is in a title, and a piece that
  // can be opened is a button. Thin lines inside a piece are the ends of its steps.
  function lane(parent, spec) {
    const height = spec.height || 40, svg = canvas(parent, spec.width, height, spec.name);
    const scale = (spec.width - 2) / spec.end, across = (value) => 1 + Math.min(value, spec.end) * scale;
    const hatch = `hatch-${spec.id}`;
    const pattern = draw(draw(svg, "defs", {}), "pattern", {
      id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
    });
    draw(pattern, "rect", { width: 6, height: 6, style: "fill: var(--paper)" });
    draw(pattern, "rect", { width: 2.4, height: 6, style: `fill: ${spec.colour}` });
    const fills = { cut: `url(#${hatch})`, waiting: "none", silent: "var(--line)", returned: spec.colour };
    spec.pieces.forEach((piece) => {
      const from = across(piece.start), to = across(piece.stop), wide = to - from;
      if (wide <= 0) { return; }
      const group = draw(svg, "g", { class: `piece ${piece.kind}` });
      const isPlain = piece.kind === "waiting" || piece.kind === "silent";
      draw(group, "rect", {
        x: from + 0.5, y: 7.5, width: Math.max(0.5, wide - 1), height: 24, rx: 2,
        style: `fill: ${fills[piece.kind]}; stroke: ${isPlain ? "var(--tie)" : spec.colour}`,
        "stroke-dasharray": piece.kind === "waiting" ? "3 3" : "none",
      });
      steps(group, piece, across);
      if (piece.past && piece.stop > piece.past) {
        // What lies past the budget is paid all the same.
        draw(group, "rect", {
          x: across(piece.past), y: 8, width: Math.max(0, to - across(piece.past) - 0.5), height: 23,
          style: "fill: var(--paper); opacity: 0.22",
        });
        draw(group, "rect", {
          x: across(piece.past), y: 33.5, width: to - across(piece.past), height: 5, style: `fill: ${spec.colour}`,
        });
      }
      if (piece.picked) {
        draw(group, "rect", {
          x: from, y: 6, width: wide, height: 27, rx: 3, style: "fill: none; stroke: var(--ink); stroke-width: 2.5",
        });
      }
      if (piece.asked) {
        const place = across(piece.asked);
        draw(group, "path", { class: "asked", d: `M${place - 6},31.5l6,-6l6,6l-6,6z`, style: "fill: var(--forced); stroke: var(--paper)" });
      }
      // The label keeps clear of the line at B: it stands on the wider side of it.
      const line = across(spec.budget);
      let left = from, right = to;
      if (from < line && line < to) {
        if (line - from >= to - line) { right = line; } else { left = line; }
      }
      const label = fitted(piece.label, right - left - 8);
      if (label) {
        draw(group, "text", {
          x: (left + right) / 2, y: 24, "text-anchor": "middle", class: piece.kind === "cut" ? "halo" : "",
          style: piece.kind === "returned" ? "fill: var(--paper); font-weight: 600" : "",
        }, label);
      }
      draw(group, "title", {}, piece.title);
      if (piece.open) { button(group, piece); }
    });
    if (spec.pieces.some((piece) => piece.open)) { svg.setAttribute("role", "group"); }
    const at = across(spec.budget);
    draw(svg, "line", { x1: at, x2: at, y1: 0, y2: height, class: "now", "stroke-width": 2.5 });
    return svg;
  }

  function button(group, piece) {
    Object.entries({ role: "button", tabindex: 0, "aria-label": `read ${piece.title}` })
      .forEach(([name, value]) => group.setAttribute(name, value));
    group.addEventListener("click", piece.open);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); piece.open(); }
    });
  }

  // Steps narrower than three pixels would be a grey block.
  function steps(group, piece, across) {
    let before = across(piece.start);
    (piece.steps || []).forEach((end) => {
      const at = across(piece.start + end);
      if (piece.start + end >= piece.stop || at - before < 3) { return; }
      draw(group, "line", {
        x1: at, x2: at, y1: 8, y2: 31, class: `step${piece.kind === "returned" ? " light" : ""}`,
      });
      before = at;
    });
  }

  // The axis below the lanes, with the budget marked.
  function costAxis(parent, spec) {
    const svg = canvas(parent, spec.width, 34, "axis of cost"), scale = (spec.width - 2) / spec.end;
    draw(svg, "line", { x1: 1, x2: spec.width - 1, y1: 2, y2: 2, class: "axis" });
    const mark = 1 + Math.min(spec.budget, spec.end) * scale, text = `B = ${tick(spec.unit, spec.budget)}`;
    const half = 4 * text.length;
    evenTicks(0, spec.end, spec.width / 90).forEach((value) => {
      const at = 1 + value * scale;
      draw(svg, "line", { x1: at, x2: at, y1: 2, y2: 7, class: "axis" });
      if (Math.abs(at - mark) > half + 22) {
        const anchor = at < 12 ? "start" : at > spec.width - 16 ? "end" : "middle";
        draw(svg, "text", { x: at, y: 20, "text-anchor": anchor, class: "soft" }, tick(spec.unit, value));
      }
    });
    draw(svg, "line", { x1: mark, x2: mark, y1: 0, y2: 9, class: "now" });
    const place = Math.max(half, Math.min(spec.width - half, mark));
    draw(svg, "text", { x: place, y: 21, "text-anchor": "middle", "font-weight": 650 },
      text + (spec.budget > spec.end ? " →" : ""));
  }

  // A text cut to a width, in the middle, so that both ends stay; nothing where no letter fits.
  function fitted(text, width) {
    const most = Math.floor(width / 7);
    if (!text || most < 1) { return ""; }
    if (text.length <= most) { return text; }
    if (most < 4) { return ""; }
    const left = Math.ceil((most - 1) / 2);
    return text.slice(0, left) + "…" + text.slice(text.length - (most - 1 - left));
  }

  const SHAPES = [
    (r) => `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`,
    (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
    (r) => `M0 ${-1.3 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`,
    (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z`,
    (r) => `M0 ${1.3 * r}L${1.2 * r} ${-r}H${-1.2 * r}Z`,
    (r) => `M${-r} ${-r}L${r} ${r}M${-r} ${r}L${r} ${-r}`,
  ];

  // Policies as points: shape by policy, fill by rule, a line along the budgets, and the frontier; a
  // point is as faint as it is seldom on the frontier.
  function cloud(parent, spec) {
    const { svg, box, scale } = plot(parent, spec, 14, { x: `realized cost, mean, ${TITLES[spec.unit.name]}` });
    let stairs = "";
    spec.frontier.forEach((point, i) => {
      const x = scale.across(point.cost), y = scale.down(point.accuracy);
      stairs += i ? `H${x}V${y}` : `M${x} ${y}`;
    });
    if (stairs) { draw(svg, "path", { d: `${stairs}H${box.left + box.width}`, class: "same", fill: "none" }); }
    (spec.others || []).forEach((point) => {
      draw(draw(svg, "circle", {
        cx: scale.across(point.cost), cy: scale.down(point.accuracy), r: 2.5, class: "other",
        opacity: 0.2 + 0.8 * ((point.share || 0) / 100),
      }), "title", {}, point.title);
    });
    spec.lines.forEach((line) => {
      draw(svg, "path", {
        class: `line${line.rule === "advisory" ? " dashed" : ""}`, opacity: 0.35,
        d: path(line.points.map((p) => scale.across(p.cost)), line.points.map((p) => scale.down(p.accuracy))),
        style: `stroke-width: 1.3; stroke: ${line.colour}`,
      });
    });
    spec.lines.forEach((line) => line.points.forEach((point) => {
      const mark = draw(svg, "path", {
        d: SHAPES[line.shape % SHAPES.length](5), "stroke-width": 2,
        opacity: point.share === null ? 1 : 0.25 + 0.75 * (point.share / 100),
        transform: `translate(${scale.across(point.cost)} ${scale.down(point.accuracy)})`,
        style: `stroke: ${line.colour}; fill: ${line.rule === "strict" ? line.colour : "var(--paper)"}`,
      });
      draw(mark, "title", {}, point.title);
    }));
  }

  // Archives as pairs of points, strict filled and advisory hollow; those in the picture beside it have
  // its colours, the others are grey.
  function points(parent, spec) {
    const { svg, scale } = plot(parent, spec, 10, { x: `realized cost, ${SHORT[spec.unit.name]}` });
    const sorted = spec.points.slice().sort((a, b) => a.isShown - b.isShown);
    sorted.forEach((point) => {
      const group = draw(svg, "g", { class: "pair" }), at = ["strict", "advisory"].map((rule) => [scale.across(point[rule][0]), scale.down(point[rule][1])]);
      const colours = ["strict", "advisory"].map((rule) => (point.isShown ? point.colour || `var(--${rule})` : "var(--tie)"));
      draw(group, "line", { x1: at[0][0], y1: at[0][1], x2: at[1][0], y2: at[1][1], style: "stroke: var(--tie)", opacity: 0.5 });
      at.forEach(([cx, cy], place) => draw(group, "circle", { cx, cy, r: point.isShown ? 6 : 4.5, "stroke-width": 2,
        style: `stroke: ${colours[place]}; fill: ${place ? "var(--paper)" : colours[place]}` }));
      draw(group, "title", {}, point.title);
      group.addEventListener("click", point.pick);
    });
  }

  function shapeKey(parent, shape, colour) {
    const svg = draw(parent, "svg", { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    draw(svg, "path", { d: SHAPES[shape % SHAPES.length](5), style: `fill: ${colour}; stroke: ${colour}`, "stroke-width": 2 });
  }

  // One row of a forest: an interval or a range around a value, on a scale that all rows share.
  function forestRow(parent, spec) {
    const svg = canvas(parent, spec.width, 22, spec.name);
    const across = (value) => 6 + ((value - spec.low) / (spec.high - spec.low)) * (spec.width - 12);
    const zero = across(0);
    draw(svg, "line", { x1: zero, x2: zero, y1: 0, y2: 22, class: "axis" });
    if (spec.range) {
      const [from, to] = [across(spec.range.low), across(spec.range.high)];
      draw(svg, "line", { x1: from, x2: to, y1: 11, y2: 11, class: `reach ${spec.kind}` });
      if (spec.kind === "interval") {
        [from, to].forEach((x) => draw(svg, "line", { x1: x, x2: x, y1: 7, y2: 15, class: "reach" }));
      }
    }
    if (spec.value !== null) {
      draw(svg, "rect", { x: across(spec.value) - 4, y: 7, width: 8, height: 8, class: spec.isShown ? "point shown" : "point" });
    }
  }

  // Lines over k, each with its interval as a whisker and its name at the end.
  function atK(parent, spec) {
    const room = 16 + 7 * Math.max(...spec.lines.map((line) => line.name.length));
    const titles = { x: "attempts k", y: "of the problems, %", unit: null, ticks: spec.ks };
    const { svg, box, scale: { across, down } } = plot(parent, { ...spec, x: [1, Math.max(2, ...spec.ks)], y: [0, 100] }, room, titles);
    spec.lines.forEach((line) => {
      const points = line.points.filter((point) => point.value !== null);
      draw(svg, "path", {
        class: `line${line.dashed ? " dashed" : ""}`, style: `stroke: ${line.colour}`,
        d: path(points.map((point) => across(point.k)), points.map((point) => down(point.value))),
      });
      points.forEach((point) => {
        const x = across(point.k), style = `stroke: ${line.colour}; fill: ${line.colour}`;
        if (point.low !== null) {
          draw(svg, "line", { x1: x, x2: x, y1: down(point.low), y2: down(point.high), style, "stroke-width": 3, opacity: 0.3 });
        }
        draw(draw(svg, "circle", { cx: x, cy: down(point.value), r: 3.5, style }), "title", {}, point.title);
      });
    });
    endNames(svg, box, spec.lines.filter((line) => line.points.some((point) => point.value !== null)).map((line) => {
      const point = line.points.filter(({ value }) => value !== null).pop();
      return { x: across(point.k), y: down(point.value), text: line.name, colour: line.colour };
    }));
  }

  return { curve, lane, costAxis, cloud, shapeKey, forestRow, points, atK, fitted, TITLES, SHORT };
})();
