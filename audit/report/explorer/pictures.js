// The pictures of the page, drawn as SVG from plain numbers. Texts from archives go in as text
// nodes, never as markup.
var pictures = (function () {
  "use strict";

  var SPACE = "http://www.w3.org/2000/svg";

  function draw(parent, tag, attributes, text) {
    var element = document.createElementNS(SPACE, tag);
    Object.keys(attributes || {}).forEach(function (name) {
      element.setAttribute(name, attributes[name]);
    });
    if (text !== undefined) { element.textContent = text; }
    parent.appendChild(element);
    return element;
  }

  function canvas(parent, width, height, name) {
    parent.textContent = "";
    return draw(parent, "svg", {
      viewBox: "0 0 " + width + " " + height, width: width, height: height, role: "img",
      "aria-label": name,
    });
  }

  // A number of tokens as people say it.
  function tokens(value) {
    if (value >= 1e6 && value % 1e5 === 0) { return value / 1e6 + "M"; }
    if (value >= 1000 && value % 100 === 0) { return arithmetic.grouped(value / 1000) + "k"; }
    return arithmetic.grouped(Math.round(value));
  }

  function logTicks(low, high, most) {
    var steps = [[1, 2, 5], [1, 3], [1]], found = [];
    for (var set = 0; set < steps.length; set++) {
      found = [];
      for (var power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1; power++) {
        steps[set].forEach(function (digit) {
          var value = digit * Math.pow(10, power);
          if (value >= low && value <= high && value >= 1) { found.push(value); }
        });
      }
      if (found.length <= most) { return found; }
    }
    return found;
  }

  function evenTicks(low, high, most) {
    var rough = (high - low) / most, power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].find(function (digit) { return digit * power >= rough; }) * power;
    var found = [];
    for (var value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) {
      found.push(Math.round(value * 1e6) / 1e6);
    }
    return found;
  }

  function path(xs, ys) {
    var text = "", open = false;
    for (var i = 0; i < xs.length; i++) {
      if (!isFinite(ys[i])) { open = false; continue; }
      text += (open ? "L" : "M") + xs[i].toFixed(1) + " " + ys[i].toFixed(1);
      open = true;
    }
    return text;
  }

  // Axes with a logarithmic x and an even y; returns the scales.
  function axes(svg, box, x, y, titles) {
    function acrossLog(value) {
      var share = Math.log(Math.max(value, x[0]) / x[0]) / Math.log(x[1] / x[0]);
      return box.left + Math.min(1, share) * box.width;
    }
    function down(value) { return box.top + (1 - (value - y[0]) / (y[1] - y[0])) * box.height; }
    var under = draw(svg, "g", { class: "tick" });
    evenTicks(y[0], y[1], Math.max(2, box.height / 45)).forEach(function (value) {
      var at = down(value);
      draw(under, "line", { x1: box.left, x2: box.left + box.width, y1: at, y2: at, class: "grid" });
      draw(under, "text", { x: box.left - 7, y: at + 4, "text-anchor": "end" }, String(value));
    });
    var bottom = box.top + box.height;
    logTicks(x[0], x[1], box.width / 52).forEach(function (value) {
      var at = acrossLog(value);
      draw(under, "line", { x1: at, x2: at, y1: bottom, y2: bottom + 5, class: "axis" });
      draw(under, "text", { x: at, y: bottom + 18, "text-anchor": "middle" }, tokens(value));
    });
    draw(under, "line", { x1: box.left, x2: box.left + box.width, y1: bottom, y2: bottom, class: "axis" });
    draw(svg, "text", { x: box.left, y: box.top - 9, class: "soft" }, titles.y);
    draw(svg, "text", { x: box.left + box.width, y: bottom + 35, "text-anchor": "end", class: "soft" }, titles.x);
    return { across: acrossLog, down: down, bottom: bottom };
  }

  // Accuracy of both rules: one line per archive and rule, the band of the difference, and a line
  // that moves.
  function curve(parent, spec) {
    var svg = canvas(parent, spec.width, spec.height, spec.name);
    var box = { left: 38, top: 24, width: spec.width - 38 - 14, height: spec.height - 24 - 42 };
    var scale = axes(svg, box, spec.x, spec.y, {
      x: spec.axis === "budget" ? "budget B, completion tokens" : "realized cost, mean completion tokens",
      y: "accuracy, %",
    });
    function trace(xs, ys) {
      return path(Array.from(xs, scale.across), Array.from(ys, scale.down));
    }
    var shade = draw(svg, "path", { class: "band", d: "" });
    spec.series.forEach(function (series) {
      draw(svg, "path", {
        class: "line" + (series.dashed ? " dashed" : ""), d: trace(series.x, series.y),
        style: "stroke: " + series.colour, "data-archive": series.archive, "data-rule": series.rule,
      });
    });
    var moving = draw(svg, "g", { class: "moving" });
    return {
      box: box,
      // The value under a place of the picture, in the picture's own units.
      valueAt: function (place) {
        var share = Math.max(0, Math.min(1, (place - box.left) / box.width));
        return spec.x[0] * Math.pow(spec.x[1] / spec.x[0], share);
      },
      band: function (found) {
        if (!found) { shade.setAttribute("d", ""); return; }
        var there = trace(found.x, found.high);
        var back = trace(Array.from(found.x).reverse(), Array.from(found.low).reverse());
        shade.setAttribute("d", there + back.replace("M", "L") + "Z");
        shade.setAttribute("style", "fill: " + found.colour);
      },
      move: function (now) {
        moving.textContent = "";
        now.lines.forEach(function (line) {
          var at = scale.across(line.x);
          draw(moving, "line", { x1: at, x2: at, y1: box.top, y2: scale.bottom, class: line.kind });
          if (line.text) {
            var end = at > box.left + box.width - 90;
            draw(moving, "text", {
              x: at + (end ? -6 : 6), y: box.top + 8 + (line.lower || 0), class: "halo",
              "text-anchor": end ? "end" : "start", "font-weight": line.kind === "now" ? 650 : 400,
            }, line.text);
          }
        });
        now.points.forEach(function (point) {
          if (point.y === null) { return; }
          var x = scale.across(point.x), style = "stroke: " + point.colour + "; fill: "
            + (point.hollow ? "var(--paper)" : point.colour);
          if (point.low !== undefined) {
            draw(moving, "line", {
              x1: x, x2: x, y1: scale.down(point.low), y2: scale.down(point.high), style: style,
              "stroke-width": 3, opacity: 0.55,
            });
          }
          draw(moving, "circle", {
            cx: x, cy: scale.down(point.y), r: 5, style: style, "stroke-width": 2,
          });
        });
      },
    };
  }

  // A row of attempts on the token axis; every piece says what it is in a title.
  function lane(parent, spec) {
    var height = spec.height || 40, svg = canvas(parent, spec.width, height, spec.name);
    var scale = (spec.width - 2) / spec.end;
    function across(value) { return 1 + Math.min(value, spec.end) * scale; }
    var hatch = "hatch-" + spec.id, patterns = draw(svg, "defs", {});
    var pattern = draw(patterns, "pattern", {
      id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
    });
    draw(pattern, "rect", { width: 6, height: 6, style: "fill: var(--paper)" });
    draw(pattern, "rect", { width: 2.4, height: 6, style: "fill: " + spec.colour });
    spec.pieces.forEach(function (piece) {
      var from = across(piece.start), to = across(piece.stop), wide = to - from;
      if (wide <= 0) { return; }
      var group = draw(svg, "g", { class: "piece " + piece.kind });
      var fill = piece.kind === "cut" ? "url(#" + hatch + ")"
        : piece.kind === "waiting" ? "none"
        : piece.kind === "silent" ? "var(--line)" : spec.colour;
      draw(group, "rect", {
        x: from + 0.5, y: 7.5, width: Math.max(0.5, wide - 1), height: 24, rx: 2,
        style: "fill: " + fill + "; stroke: "
          + (piece.kind === "waiting" ? "var(--tie)" : piece.kind === "silent" ? "var(--tie)" : spec.colour),
        "stroke-dasharray": piece.kind === "waiting" ? "3 3" : "none",
      });
      if (piece.past && piece.stop > piece.past) {
        // What lies past the budget is paid all the same.
        draw(group, "rect", {
          x: across(piece.past), y: 8, width: to - across(piece.past) - 0.5, height: 23,
          style: "fill: var(--paper); opacity: 0.22",
        });
        draw(group, "rect", {
          x: across(piece.past), y: 33.5, width: to - across(piece.past), height: 5,
          style: "fill: " + spec.colour,
        });
      }
      if (piece.picked) {
        draw(group, "rect", {
          x: from, y: 6, width: wide, height: 27, rx: 3,
          style: "fill: none; stroke: var(--ink); stroke-width: 2.5",
        });
      }
      // The label keeps clear of the line at B: it stands on the wider side of it.
      var line = across(spec.budget), left = from, right = to;
      if (from < line && line < to) {
        if (line - from >= to - line) { right = line; } else { left = line; }
      }
      var label = fitted(piece.label, right - left - 8);
      if (label) {
        draw(group, "text", {
          x: (left + right) / 2, y: 24, "text-anchor": "middle", class: piece.kind === "cut" ? "halo" : "",
          style: piece.kind === "returned" ? "fill: var(--paper); font-weight: 600" : "",
        }, label);
      }
      draw(group, "title", {}, piece.title);
    });
    var at = across(spec.budget);
    draw(svg, "line", { x1: at, x2: at, y1: 0, y2: height, class: "now", "stroke-width": 2.5 });
    return svg;
  }

  // The token axis below the lanes, with the budget marked.
  function tokenAxis(parent, spec) {
    var svg = canvas(parent, spec.width, 34, "token axis"), scale = (spec.width - 2) / spec.end;
    draw(svg, "line", { x1: 1, x2: spec.width - 1, y1: 2, y2: 2, class: "axis" });
    var mark = 1 + Math.min(spec.budget, spec.end) * scale, text = "B = " + tokens(spec.budget);
    var half = 4 * text.length;
    evenTicks(0, spec.end, spec.width / 90).forEach(function (value) {
      var at = 1 + value * scale;
      draw(svg, "line", { x1: at, x2: at, y1: 2, y2: 7, class: "axis" });
      if (Math.abs(at - mark) > half + 22) {
        var anchor = at < 12 ? "start" : at > spec.width - 16 ? "end" : "middle";
        draw(svg, "text", { x: at, y: 20, "text-anchor": anchor, class: "soft" }, tokens(value));
      }
    });
    draw(svg, "line", { x1: mark, x2: mark, y1: 0, y2: 9, class: "now" });
    var place = Math.max(half, Math.min(spec.width - half, mark));
    draw(svg, "text", { x: place, y: 21, "text-anchor": "middle", "font-weight": 650 },
      text + (spec.budget > spec.end ? " →" : ""));
  }

  // A text cut to a width, in the middle, so that both ends stay; nothing where no letter fits.
  function fitted(text, width) {
    var most = Math.floor(width / 7);
    if (!text || most < 1) { return ""; }
    if (text.length <= most) { return text; }
    if (most < 4) { return ""; }
    var left = Math.ceil((most - 1) / 2);
    return text.slice(0, left) + "…" + text.slice(text.length - (most - 1 - left));
  }

  var SHAPES = [
    function (r) { return "M" + -r + " 0A" + r + " " + r + " 0 1 0 " + r + " 0A" + r + " " + r + " 0 1 0 " + -r + " 0Z"; },
    function (r) { return "M" + -r + " " + -r + "H" + r + "V" + r + "H" + -r + "Z"; },
    function (r) { return "M0 " + -1.3 * r + "L" + 1.2 * r + " " + r + "H" + -1.2 * r + "Z"; },
    function (r) { return "M0 " + -1.4 * r + "L" + 1.4 * r + " 0L0 " + 1.4 * r + "L" + -1.4 * r + " 0Z"; },
    function (r) { return "M0 " + 1.3 * r + "L" + 1.2 * r + " " + -r + "H" + -1.2 * r + "Z"; },
    function (r) { return "M" + -r + " " + -r + "L" + r + " " + r + "M" + -r + " " + r + "L" + r + " " + -r; },
  ];

  // Policies as points: shape by policy, fill by rule, a line along the budgets, and the frontier.
  function cloud(parent, spec) {
    var svg = canvas(parent, spec.width, spec.height, spec.name);
    var box = { left: 38, top: 24, width: spec.width - 38 - 14, height: spec.height - 24 - 42 };
    var scale = axes(svg, box, spec.x, spec.y, {
      x: "realized cost, mean completion tokens", y: "accuracy, %",
    });
    var stairs = "";
    spec.frontier.forEach(function (point, i) {
      var x = scale.across(point.cost), y = scale.down(point.accuracy);
      stairs += i ? "H" + x + "V" + y : "M" + x + " " + y;
    });
    if (stairs) { draw(svg, "path", { d: stairs + "H" + (box.left + box.width), class: "same", fill: "none" }); }
    spec.lines.forEach(function (line) {
      draw(svg, "path", {
        class: "line" + (line.rule === "advisory" ? " dashed" : ""), opacity: 0.35,
        d: path(line.points.map(function (p) { return scale.across(p.cost); }),
          line.points.map(function (p) { return scale.down(p.accuracy); })),
        style: "stroke-width: 1.3; stroke: " + line.colour,
      });
    });
    spec.lines.forEach(function (line) {
      line.points.forEach(function (point) {
        var mark = draw(svg, "path", {
          d: SHAPES[line.shape % SHAPES.length](5), "stroke-width": 2,
          transform: "translate(" + scale.across(point.cost) + " " + scale.down(point.accuracy) + ")",
          style: "stroke: " + line.colour + "; fill: " + (line.rule === "strict" ? line.colour : "var(--paper)"),
        });
        draw(mark, "title", {}, point.title);
      });
    });
  }

  function shapeKey(parent, shape, colour) {
    var svg = draw(parent, "svg", { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    draw(svg, "path", { d: SHAPES[shape % SHAPES.length](5), style: "fill: " + colour + "; stroke: " + colour, "stroke-width": 2 });
  }

  return {
    curve: curve, lane: lane, tokenAxis: tokenAxis, cloud: cloud, shapeKey: shapeKey,
    tokens: tokens, fitted: fitted,
  };
})();
