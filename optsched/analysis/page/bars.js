// The bars of a Gantt chart, painted into the axes of a plot: tens of thousands in a few milliseconds; and which bar lies where.
const THIN_PX = 6;  // rows below have no edges and no hatching

const fillOf = (bars, i) => {
  const { role } = bars.kinds[bars.kind[i]];
  return role === "job" ? `job${bars.job[i] % FILLS}` : role;
};

// bars by kind, then by colour, so that a colour is set once
function byFill(bars) {
  const groups = new Map();
  bars.kind.forEach((kind, i) => {
    const fill = fillOf(bars, i), key = `${String(kind).padStart(3, "0")} ${fill}`;
    if (!groups.has(key)) groups.set(key, { kind, fill, members: [] });
    groups.get(key).members.push(i);
  });
  return [...groups.keys()].sort().map((key) => groups.get(key));
}

function hatching(pen, ink) {
  const tile = element("canvas", { width: 7, height: 7 }), line = tile.getContext("2d");
  line.strokeStyle = ink;
  line.lineWidth = 1.3;
  for (const shift of [-7, 0, 7]) {
    line.beginPath();
    line.moveTo(shift - 1, 8);
    line.lineTo(shift + 8, -1);
    line.stroke();
  }
  return pen.createPattern(tile, "repeat");
}

// what of the bars lies in sight; nothing that does is thinner than a pixel
function paint(figure, panel) {
  const { bars } = figure, { left, top, width, height } = figure.area(panel), dense = devicePixelRatio || 1;
  const canvas = panel.canvas, pen = canvas.getContext("2d");
  Object.assign(canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
  Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  pen.scale(dense, dense);
  const x = (seconds) => figure.x(panel, figure.at(seconds)) - left, y = (row) => figure.y(panel, row) - top;
  const thin = y(1) - y(0) < THIN_PX;
  const shown = figure.drawn.filter((_, i) => !panel.hidden.has(i)).map(({ i }) => i);
  for (const { kind, fill, members } of figure.groups) {
    if (!shown.includes(kind)) continue;
    const ink = colour(fill), hatched = !thin && (fill === "late" || fill === "left");
    pen.fillStyle = hatched ? hatching(pen, ink) : ink;
    pen.strokeStyle = ink;
    pen.globalAlpha = thin ? ({ late: 0.4, left: 0.6 }[fill] ?? 1) : 1;
    for (const i of members) {
      const x0 = x(bars.begin[i]), x1 = x(bars.end[i]), y0 = y(bars.low[i]), y1 = y(bars.high[i]);
      if (x1 < 0 || x0 > width || y1 < 0 || y0 > height) continue;
      const from = Math.max(x0, -2), wide = Math.max(1, Math.min(x1, width + 2) - from - (thin ? 0 : 1)), high = Math.max(fill === "late" ? 0 : 1, y1 - y0);
      pen.fillRect(from, y0, wide, high);
      if (hatched && fill === "left") pen.strokeRect(from + 0.5, y0 + 0.5, Math.max(0, wide - 1), Math.max(0, high - 1));
    }
  }
  pen.globalAlpha = 1;
  pen.fillStyle = colour("ink");
  bars.marks.forEach(({ at, low, high }, k) => {
    if (panel.hidden.has(figure.drawn.length + k)) return;
    at.forEach((moment, i) => pen.fillRect(x(moment) - 1.25, y(low[i]), 2.5, Math.max(1, y(high[i]) - y(low[i]))));
  });
}

// bars by the rows that they touch, so that a search looks at a few
function byRow(bars) {
  const rows = new Map();
  bars.low.forEach((low, i) => {
    for (let row = Math.floor(low); row < bars.high[i]; row += 1) {
      if (!rows.has(row)) rows.set(row, []);
      rows.get(row).push(i);
    }
  });
  return rows;
}

// the nearest bar within the reach of some seconds and rows; of several, what is drawn last but for hatching
function barAt(bars, rows, seconds, row, reach) {
  let best = null, least = Infinity;
  const rank = (i) => (bars.kinds[bars.kind[i]].role === "late" ? -1 : bars.kind[i]);
  for (let r = Math.floor(row - reach.rows); r <= Math.floor(row + reach.rows); r += 1) {
    for (const i of rows.get(r) ?? []) {
      const across = Math.max(bars.begin[i] - seconds, seconds - bars.end[i], 0) / reach.seconds;
      const down = Math.max(bars.low[i] - row, row - bars.high[i], 0) / Math.max(reach.rows, 1e-9);
      const far = Math.max(across, down);
      if (far > 1 || far > least || (far === least && best !== null && rank(i) < rank(best))) continue;
      [best, least] = [i, far];
    }
  }
  return best;
}
