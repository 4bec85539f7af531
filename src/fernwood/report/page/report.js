"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-pressed", String(isDark())); };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  name();

  const said = document.getElementById("said");
  const copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Where the clipboard is closed to pages, the old way still works.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    if (said) said.value = `${what} copied`;
  };
  document.querySelectorAll("[data-copy='call']").forEach((button) => button.addEventListener("click", async () => {
    await copy(document.getElementById("call").innerText, "command");
    button.textContent = "Copied";
  }));

  const table = document.getElementById("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filter = document.getElementById("filter");
  const decision = document.getElementById("decision");
  const textOf = (cell) => cell.lastElementChild.textContent; // what stands beside a picture, not its title
  const nameOf = (row) => textOf(row.cells[0]);
  const shown = () => [...body.rows].filter((row) => !row.hidden);
  const texts = new Map(rows.map((row) => [row, [...row.cells].map(textOf).join("\n").toLowerCase()]));

  const sift = () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const row of rows) {
      const fits = !decision || !decision.value || row.dataset.decision === decision.value;
      row.hidden = !(fits && texts.get(row).includes(wanted));
    }
    const n = shown().length;
    said.value = n === rows.length ? `${n} column${n === 1 ? "" : "s"}` : `${n} of ${rows.length} columns`;
  };
  filter.addEventListener("input", sift);
  if (decision) decision.addEventListener("change", sift);

  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, place) => heading.firstElementChild.addEventListener("click", () => {
    const numeric = "numeric" in heading.firstElementChild.dataset;
    const down = heading.getAttribute("aria-sort") === "ascending";
    headings.forEach((other) => other.setAttribute("aria-sort", "none"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => place === 0 ? nameOf(row) : row.cells[place].dataset.sort;
    const order = (a, b) => numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b), undefined, { numeric: true });
    body.append(...rows.slice().sort((a, b) => (down ? -1 : 1) * order(a, b)));
  }));

  document.querySelector("[data-copy='names']").addEventListener("click", () => {
    copy(shown().map(nameOf).join("\n"), `${shown().length} names`);
  });
  document.querySelector("[data-copy='table']").addEventListener("click", () => {
    const line = (cells) => [...cells].map((cell) => textOf(cell).replace(/[\t\n]/g, " ")).join("\t");
    copy([headings, ...shown().map((row) => row.cells)].map(line).join("\n"), "table");
  });
})();
