// A figure: the Gantt chart where there is one, panels of curves under it, one time for all of them.
const ROW_PX = 13;  // least height of a row whose name is written
const NAMES_PX = 150;
const FEW_ROWS = 5;  // least that are zoomed to
const NEAR_ROWS = 30;
const OPTIONS = { displayModeBar: false, doubleClick: false, responsive: false, showTips: false };

class Figure {
  constructor(host) {
    this.host = host;
    this.data = JSON.parse(document.getElementById(host.dataset.from).textContent);
    this.at = (seconds) => placed(this.data.time, seconds);
    this.seconds = (at) => (this.data.time.dated ? (at - this.data.time.origin) / 1000 : at * this.data.time.scale);
    this.mode = "zoom";
    this.bars = this.data.bars;
    this.panels = [];
    this.whole = [this.at(0), this.at(this.data.end)];
    this.range = [...this.whole];
    if (this.bars) {
      this.rows = byRow(this.bars);
      this.groups = byFill(this.bars);
      this.height = Math.max(1, ...this.bars.rows.map((row) => row[1]));
      this.span = [this.height, 0];
    }
    this.build();
  }

  build() {
    this.host.append(this.toolbar());
    if (this.bars) this.add({ title: this.bars.title, unit: "", px: Math.min(560, Math.max(150, 17 * this.height + 20)) }, this.kinds(), true);
    for (const panel of this.data.panels) this.add(panel, panel.curves.map(looks), false);
    this.tip = new Tip(this);
    this.draw();
    new ResizeObserver(() => this.resized()).observe(this.host);
    themed.push(() => this.host.offsetParent ? this.draw() : (this.stale = true));
  }

  add(panel, entries, gantt) {
    const plot = element("div", { className: "plot" });
    plot.style.height = `${panel.px}px`;
    const made = { ...panel, plot, gantt, hidden: new Set() };
    const toggle = (i, on) => { if (on) made.hidden.delete(i); else made.hidden.add(i); this.draw(made); };
    const title = element("h5", {}, panel.title, panel.unit ? element("span", { className: "unit" }, `, ${panel.unit}`) : "");
    const over = element("div", { className: "over" });
    const frame = element("div", { className: "frame" }, plot, ...(gantt ? [made.canvas = element("canvas")] : []), over);
    this.host.append(element("div", { className: "panel" }, element("div", { className: "head" }, title, legend(entries, toggle)), frame));
    this.panels.push(Object.assign(made, { over }));
  }

  kinds() {
    const used = new Set(this.bars.kind);
    const kinds = this.bars.kinds.map(({ name, role }, i) => ({ name, i, swatch: `var(--${role === "job" ? "job0" : role})`, kind: { late: "hatched over-bar", left: "hatched" }[role] ?? "area" }));
    this.drawn = kinds.filter(({ i }) => used.has(i));
    const marks = this.bars.marks.map(({ name }) => ({ name, swatch: "var(--ink)", kind: "upright" }));
    return [...this.drawn, ...marks];
  }

  toolbar() {
    const button = (text, label, act) => {
      const made = element("button", { type: "button", title: label }, text);
      made.setAttribute("aria-label", label);
      made.addEventListener("click", act);
      return made;
    };
    const mode = button("Pan", "Drag moves instead of zooming", () => {
      this.mode = this.mode === "zoom" ? "pan" : "zoom";
      mode.setAttribute("aria-pressed", String(this.mode === "pan"));
      for (const { plot } of this.panels) Plotly.relayout(plot, { dragmode: this.mode });
    });
    mode.setAttribute("aria-pressed", "false");
    const zoom = [button("+", "Zoom in", () => this.zoom(0.5)), button("−", "Zoom out", () => this.zoom(2))];
    const bar = element("div", { className: "toolbar", role: "toolbar" }, ...zoom, mode, button("Reset", "Show everything again", () => this.reset()));
    bar.append(element("span", { className: "hint" }, "drag to zoom, double click to reset; keys: arrows, +, −, 0"));
    return bar;
  }

  draw(only) {
    this.stale = false;
    this.left = this.host.clientWidth < 560 ? 62 : this.bars ? NAMES_PX : 72;
    this.panels.forEach((panel, i) => {
      if (only && panel !== only) return;
      const last = i === this.panels.length - 1;
      panel.plot.style.height = `${panel.px + below(panel, last) - 8}px`;
      const [traces, y] = panel.gantt ? this.gantt() : this.curves(panel);
      Plotly.react(panel.plot, traces, layout(this, panel, y, last), OPTIONS);
      if (!panel.heard) this.listen(panel);
    });
    this.write();
  }

  // axes only: the bars are painted over them
  gantt() {
    const bands = this.bars.rows.length > 60 ? [] : this.bars.rows.filter((_, i) => i % 2);
    const shapes = bands.map(([y0, y1]) => ({ type: "rect", xref: "paper", x0: 0, x1: 1, y0, y1, layer: "below", line: { width: 0 }, fillcolor: colour("band") }));
    const yaxis = axis({ range: [...this.span], minallowed: 0, maxallowed: this.height, showgrid: false, ...this.ticks() });
    return [[{ type: "scatter", mode: "lines", x: this.whole, y: [0, this.height], line: { width: 0 }, hoverinfo: "skip" }], { yaxis, shapes }];
  }

  curves(panel) {
    const traces = panel.curves.map((curve) => curveTrace(curve, this.at, panel)).filter((_, i) => !panel.hidden.has(i));
    const scale = panel.log ? decades(traces, panel.least) : { nticks: panel.px < 140 ? 4 : 6, range: upright(traces, panel) };
    return [traces, { yaxis: axis({ fixedrange: true, ...scale }) }];
  }

  times() { return timeTicks(this.data.time, this.range, Math.max(2, Math.floor((this.host.clientWidth - this.left) / 95))); }

  // names of the rows that can be seen, as many as there is room for
  ticks() {
    const [bottom, top] = this.span;
    const px = this.panels[0].px - 14;
    const each = px / (bottom - top);
    const seen = this.bars.rows.filter(([low, high]) => (low + high) / 2 > top && (low + high) / 2 < bottom);
    const step = Math.max(1, Math.ceil(seen.length / Math.max(1, Math.floor(px / ROW_PX))));
    const rows = seen.filter((row, i) => i % step === 0 || (row[1] - row[0]) * each > 2 * ROW_PX);
    return { tickvals: rows.map(([low, high]) => (low + high) / 2), ticktext: rows.map((row) => plain(short(row[2], this.left < 100 ? 7 : 20))) };
  }

  listen(panel) {
    panel.heard = true;
    panel.plot.on("plotly_relayout", (change) => {
      if (this.busy || !("xaxis.range[0]" in change || "yaxis.range[0]" in change)) return;
      const { xaxis, yaxis } = panel.plot.layout;
      this.show(xaxis.range.map((value) => this.axisValue(value)), panel.gantt ? [...yaxis.range] : this.span, panel);
    });
    panel.plot.on("plotly_relayouting", (change) => this.dragged(panel, change));
    panel.plot.on("plotly_doubleclick", () => this.reset());
  }

  // while somebody drags: the bars follow, the other panels wait
  dragged(panel, change) {
    if (!panel.gantt || !("xaxis.range[0]" in change || "yaxis.range[0]" in change)) return;
    const kept = [this.range, this.span];
    if ("xaxis.range[0]" in change) this.range = [change["xaxis.range[0]"], change["xaxis.range[1]"]].map((value) => this.axisValue(value));
    if ("yaxis.range[0]" in change) this.span = [change["yaxis.range[0]"], change["yaxis.range[1]"]];
    this.write();
    [this.range, this.span] = kept;
  }

  axisValue(value) {
    return typeof value === "string" ? Date.parse(`${value.trim().replace(" ", "T")}Z`) : Number(value);
  }

  // all panels from now on
  show(range, span) {
    const [low, high] = this.whole;
    const wide = Math.min(Math.max(range[1] - range[0], (high - low) * 1e-6), high - low);
    const from = Math.min(Math.max(range[0], low), high - wide);
    this.range = [from, from + wide];
    this.span = span;
    this.tip.hide();
    this.busy = true;
    for (const panel of this.panels) {
      const change = { "xaxis.range": [...this.range] }, { tickvals: moments, ticktext: words } = this.times();
      if (moments) Object.assign(change, { "xaxis.tickvals": moments, "xaxis.ticktext": words });
      if (panel.gantt) {
        const { tickvals, ticktext } = this.ticks();
        Object.assign(change, { "yaxis.range": [...span], "yaxis.tickvals": tickvals, "yaxis.ticktext": ticktext });
      }
      Plotly.relayout(panel.plot, change);
    }
    this.busy = false;
    this.write();
  }

  reset() {
    this.tip.anchor = undefined;
    this.show(this.whole, this.bars ? [this.height, 0] : undefined);
  }

  // about the bar that was chosen, rows too; else about the middle
  zoom(by) {
    const i = this.tip.anchor, half = ((this.range[1] - this.range[0]) * by) / 2;
    if (i === undefined) {
      const middle = (this.range[0] + this.range[1]) / 2;
      return this.show([middle - half, middle + half], this.span);
    }
    const rows = Math.min(Math.max((this.span[0] - this.span[1]) * by, Math.min(FEW_ROWS, this.height)), this.height);
    this.around(i, half, rows);
    this.tip.go(i);
  }

  // a bar in the middle of so much time, and of so many rows
  around(i, half, rows) {
    const at = this.at((this.bars.begin[i] + this.bars.end[i]) / 2), row = (this.bars.low[i] + this.bars.high[i]) / 2;
    const top = Math.min(Math.max(row - rows / 2, 0), this.height - rows);
    this.show([at - half, at + half], [top + rows, top]);
  }

  // near enough to be read
  near(i) {
    const length = this.at(this.bars.end[i]) - this.at(this.bars.begin[i]), whole = this.whole[1] - this.whole[0];
    this.around(i, Math.min(whole / 2, Math.max(4 * length, whole / 200)), Math.min(NEAR_ROWS, this.height));
    this.tip.go(i);
  }

  move(share) {
    const by = (this.range[1] - this.range[0]) * share;
    this.show([this.range[0] + by, this.range[1] + by], this.span);
  }

  resized() {
    if (!this.host.offsetParent || this.wide === this.host.clientWidth) return;
    this.wide = this.host.clientWidth;
    this.draw();
  }

  // where a panel has its axes, in pixels of its plot
  area(panel) {
    const last = panel === this.panels[this.panels.length - 1];
    return { left: this.left, top: MARGIN.t, width: panel.plot.clientWidth - this.left - MARGIN.r, height: panel.plot.clientHeight - MARGIN.t - below(panel, last) };
  }

  x(panel, at) {
    const { left, width } = this.area(panel);
    return left + ((at - this.range[0]) / (this.range[1] - this.range[0])) * width;
  }

  y(panel, row) {
    const { top, height } = this.area(panel);
    return top + ((row - this.span[1]) / (this.span[0] - this.span[1])) * height;
  }

  // the bars, and names in those that have room for them
  write() {
    const panel = this.panels[0];
    if (!this.bars) return;
    paint(this, panel);
    if (panel.hidden.size) return panel.over.replaceChildren();
    const { left, top, width, height } = this.area(panel);
    const [names, made] = [this.bars.jobs[0].values, []];
    const roles = this.bars.kinds.map(({ role }) => role);
    const each = height / (this.span[0] - this.span[1]);
    for (let i = 0; i < this.bars.kind.length && made.length < 400; i += 1) {
      if (["late", "window", "left", "queue"].includes(roles[this.bars.kind[i]]) || (this.bars.high[i] - this.bars.low[i]) * each < 11) continue;
      const x0 = Math.max(this.x(panel, this.at(this.bars.begin[i])), left), x1 = Math.min(this.x(panel, this.at(this.bars.end[i])), left + width);
      const y = this.y(panel, (this.bars.low[i] + this.bars.high[i]) / 2);
      const name = short(names[this.bars.job[i]], 24);
      if (y < top + 5 || y > top + height - 5 || x1 - x0 < 6.6 * name.length + 6) continue;
      const label = element("span", {}, name);
      label.style.left = `${(x0 + x1) / 2}px`;
      label.style.top = `${y}px`;
      made.push(label);
    }
    panel.over.replaceChildren(...made);
  }
}
