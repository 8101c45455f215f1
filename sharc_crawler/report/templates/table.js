// The reference instant is in sight, however narrow the window.
for (const mark of document.querySelectorAll("path.reference")) {
  const box = mark.closest(".scroll");
  box.scrollLeft += mark.getBoundingClientRect().left - box.getBoundingClientRect().left - box.clientWidth / 2;
}

// Sorting the table of pages by its columns. Without this script it stands in its first order.
for (const head of document.querySelectorAll(".pages thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = head.closest("table").tBodies[0];
    const value = (row) => {
      const cell = row.cells[head.cellIndex];
      return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
    };
    const order = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
    const rows = [...body.rows].sort((a, b) => order(value(a), value(b)) * (down ? -1 : 1));
    body.append(...rows);
  });
}
