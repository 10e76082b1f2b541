// Light or dark: as the system says, until somebody chooses; what was chosen is remembered for this page.
const root = document.documentElement;
const KEPT = "optsched-report-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const themed = [];  // what is to be drawn again in other colours

function chosen() {
  try { return localStorage.getItem(KEPT); } catch { return null; }  // a file:// page may be refused storage
}

function setTheme(name) {
  root.dataset.theme = name;
  const button = document.getElementById("theme");
  if (button) {
    button.textContent = name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colours`);
  }
  for (const redraw of themed) redraw();
}

function keepTheme(name) {
  try { localStorage.setItem(KEPT, name); } catch { /* shown all the same */ }
  setTheme(name);
}

const preferred = () => chosen() ?? (system.matches ? "dark" : "light");
const colour = (role) => getComputedStyle(root).getPropertyValue(`--${role}`).trim();
const FILLS = 9;  // colours that jobs take in turn
const SERIES = 8;  // and curves of one role
const DASHES = ["solid", "dash", "dot", "dashdot"];
