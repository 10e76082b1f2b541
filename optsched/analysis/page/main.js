// Tabs, tables, and figures that are drawn when they are first seen.
const figuresDrawn = new Map();

function drawn(host) {
  const known = figuresDrawn.get(host);
  if (known) return known.stale ? known.draw() : known.resized();
  const figure = new Figure(host);
  figuresDrawn.set(host, figure);
  jobTable(figure);
}

function visible(scope) {
  for (const host of scope.querySelectorAll(".figure")) if (host.offsetParent) drawn(host);
}

function choose(tab, focus) {
  const tabs = [...tab.parentElement.children];
  for (const other of tabs) {
    const on = other === tab;
    other.setAttribute("aria-selected", String(on));
    other.tabIndex = on ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !on;
  }
  if (focus) tab.focus();
  visible(document.getElementById(tab.getAttribute("aria-controls")));
}

function tabbed(list) {
  const tabs = [...list.children];
  for (const tab of tabs) tab.addEventListener("click", () => choose(tab));
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    choose(tabs[(to + tabs.length) % tabs.length], true);
    event.preventDefault();
  });
}

document.getElementById("theme").addEventListener("click", () => keepTheme(root.dataset.theme === "dark" ? "light" : "dark"));
system.addEventListener("change", () => setTheme(preferred()));
setTheme(preferred());
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("[role=tablist]").forEach(tabbed);
for (const link of document.querySelectorAll("[data-show]")) {
  link.addEventListener("click", () => {
    const tab = document.getElementById(`${link.dataset.show}-tab`);
    if (tab) choose(tab);
  });
}
// paper is white and narrow, and shows what nobody has scrolled to
addEventListener("beforeprint", () => {
  root.classList.add("paper");
  setTheme("light");
  for (const box of document.querySelectorAll("main details:not(.jobs)")) box.open = true;
  visible(document);
});
addEventListener("afterprint", () => {
  root.classList.remove("paper");
  setTheme(preferred());
  visible(document);
});
// what is far down waits until it is near
const watch = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) drawn(target);
}, { rootMargin: "600px" });
document.querySelectorAll(".figure").forEach((host) => watch.observe(host));
visible(document.querySelector("main > section") ?? document);
root.dataset.ready = "true";
