// the bars that stand for jobs, by their begin
const main = (bars, i) => !["late", "window"].includes(bars.kinds[bars.kind[i]].role);
const inOrder = (bars) => [...bars.begin.keys()].filter((i) => main(bars, i)).sort((a, b) => bars.begin[a] - bars.begin[b] || bars.low[a] - bars.low[b]);

// What is under the pointer, or chosen with the keyboard: a line through all panels, and a box that says what it is.
class Tip {
  constructor(figure) {
    this.figure = figure;
    this.box = element("div", { className: "tip", role: "status" });
    this.line = element("div", { className: "cross" });
    this.mark = element("div", { className: "mark" });
    figure.host.append(this.line, this.mark, this.box);
    this.order = figure.bars ? inOrder(figure.bars) : [];
    figure.host.addEventListener("pointermove", (event) => this.pointed(event));
    figure.host.addEventListener("pointerdown", (event) => { if (event.pointerType !== "mouse") this.pointed(event); });
    figure.host.addEventListener("pointerleave", () => this.hide());
    figure.host.addEventListener("keydown", (event) => this.pressed(event));
    figure.host.addEventListener("focusout", () => this.hide());
  }

  hide() { this.figure.host.classList.remove("tipped", "barred"); }

  pointed(event) {
    const panel = this.figure.panels.find(({ plot }) => plot.contains(event.target));
    if (!panel || event.buttons > 0) return this.hide();
    const box = panel.plot.getBoundingClientRect(), area = this.figure.area(panel);
    const x = event.clientX - box.left, y = event.clientY - box.top;
    if (x < area.left || x > area.left + area.width || y < area.top || y > area.top + area.height) return this.hide();
    const { range, span } = this.figure;
    const share = (x - area.left) / area.width;
    const at = range[0] + share * (range[1] - range[0]);
    if (!panel.gantt) return this.values(panel, at, event.clientY);
    const seconds = this.figure.seconds(at), row = span[1] + ((y - area.top) / area.height) * (span[0] - span[1]);
    const px = (this.figure.seconds(range[1]) - this.figure.seconds(range[0])) / area.width;
    const found = barAt(this.figure.bars, this.figure.rows, seconds, row, { seconds: 3 * px, rows: (2 * (span[0] - span[1])) / area.height });
    if (found === null) this.moment(panel, at, event.clientY); else this.bar(panel, found, at, event.clientY);
  }

  head(at) { return element("b", {}, moment(this.figure.data.time, at)); }

  moment(panel, at, y) { this.put([this.head(at)], panel, at, y); }

  values(panel, at, y) {
    const seconds = this.figure.seconds(at);
    const rows = panel.curves.filter((_, i) => !panel.hidden.has(i)).map((curve) => [curve, valueAt(curve, seconds)]);
    const lines = rows.filter(([, value]) => value !== undefined).map(([curve, value]) => this.row(curve.name, value === null ? "not known" : `${number(value)} ${panel.unit}`, looks(curve)));
    this.put([this.head(at), element("dl", {}, ...lines)], panel, at, y);
  }

  row(label, value, look) {
    const sign = look ? [element("span", { className: `swatch ${look.kind}` })] : [];
    if (look) sign[0].style.setProperty("--swatch", look.swatch);
    return element("div", {}, element("dt", {}, ...sign, short(label, 60)), element("dd", {}, value));
  }

  bar(panel, i, at, y) {
    const { bars, data } = this.figure;
    const { time } = data, from = moment(time, this.figure.at(bars.begin[i])), to = moment(time, this.figure.at(bars.end[i]));
    const until = time.dated && to.slice(0, 10) === from.slice(0, 10) ? to.slice(11) : to;
    const when = element("div", {}, `${bars.kinds[bars.kind[i]].name}, ${from} to ${until}`);
    const same = ({ label }, value) => (label === "start" && value === from) || (label === "end" && value === to);
    const rows = bars.own.map((column) => [column.label, told(column, i, time)]);
    for (const column of bars.jobs.slice(1)) {
      const value = told(column, bars.job[i], time);
      if (!same(column, value)) rows.push([column.label, value]);
    }
    const lines = rows.filter(([, value]) => value !== null).map(([label, value]) => this.row(label, value));
    this.put([element("b", {}, short(bars.jobs[0].values[bars.job[i]], 80)), when, element("dl", {}, ...lines)], panel, at, y);
    const outer = this.figure.host.getBoundingClientRect(), inner = panel.plot.getBoundingClientRect(), area = this.figure.area(panel);
    const within = (value, low, size) => Math.min(Math.max(value, low), low + size);
    const [x0, x1] = [bars.begin[i], bars.end[i]].map((s) => within(this.figure.x(panel, this.figure.at(s)), area.left, area.width));
    const [y0, y1] = [bars.low[i], bars.high[i]].map((row) => within(this.figure.y(panel, row), area.top, area.height));
    Object.assign(this.mark.style, { left: `${inner.left - outer.left + x0 - 1}px`, top: `${inner.top - outer.top + y0 - 1}px`, width: `${Math.max(2, x1 - x0) + 2}px`, height: `${Math.max(2, y1 - y0) + 2}px` });
    this.figure.host.classList.add("barred");
  }

  put(parts, panel, at, clientY) {
    const { host } = this.figure;
    this.box.replaceChildren(...parts);
    host.classList.add("tipped");
    host.classList.remove("barred");
    const outer = host.getBoundingClientRect(), inner = panel.plot.getBoundingClientRect();
    const x = inner.left - outer.left + this.figure.x(panel, at);
    const wide = this.box.offsetWidth, high = this.box.offsetHeight;
    const left = x + 16 + wide > outer.width ? x - 16 - wide : x + 16;
    const top = Math.min(Math.max(clientY - high / 2, 8), innerHeight - high - 8) - outer.top;
    Object.assign(this.box.style, { left: `${Math.min(Math.max(0, left), Math.max(0, outer.width - wide))}px`, top: `${top}px` });
    const first = this.figure.panels[0].plot.getBoundingClientRect();
    Object.assign(this.line.style, { left: `${x}px`, top: `${first.top - outer.top}px` });
  }

  pressed(event) {
    if (event.target !== this.figure.host || event.ctrlKey || event.metaKey || event.altKey) return;
    const side = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "+" || event.key === "=") this.figure.zoom(0.5);
    else if (event.key === "-") this.figure.zoom(2);
    else if (event.key === "0" || event.key === "Home") this.figure.reset();
    else if (event.key === "Escape") this.hide();
    else if (side && event.shiftKey) this.figure.move(0.25 * side);
    else if (side) this.step(side);
    else return;
    event.preventDefault();
  }

  // the next bar by its begin, or the next moment where there are no bars
  step(side) {
    const panel = this.figure.panels[0];
    if (!this.order.length) {
      const [low, high] = this.figure.range;
      this.cursor = Math.min(Math.max((this.cursor ?? low) + (side * (high - low)) / 50, low), high);
      return this.values(panel, this.cursor, panel.plot.getBoundingClientRect().top + 40);
    }
    this.chosen = ((this.chosen ?? (side > 0 ? -1 : 0)) + side + this.order.length) % this.order.length;
    this.go(this.order[this.chosen]);
  }

  // a bar, brought into sight where it is not
  go(i) {
    const { bars, range, span } = this.figure, panel = this.figure.panels[0];
    const at = this.figure.at((bars.begin[i] + bars.end[i]) / 2), row = (bars.low[i] + bars.high[i]) / 2;
    const inside = at > range[0] && at < range[1] && row < span[0] && row > span[1];
    if (!inside) this.figure.around(i, (range[1] - range[0]) / 2, span[0] - span[1]);
    this.anchor = i;
    this.bar(panel, i, at, panel.plot.getBoundingClientRect().top + this.figure.y(panel, row));
  }
}
