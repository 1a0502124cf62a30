// Filters the list of conversations: by what stands in the rows, and, once asked, by what was said.
const field = document.querySelector("#search"), rows = [...document.querySelectorAll("tbody tr[data-row]")];
const count = document.querySelector("#count"), said = document.querySelector("#said");
function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = said.checked && typeof TEXTS !== "undefined" ? TEXTS : null;
  let shown = 0;
  rows.forEach((row, at) => {
    const text = row.textContent.toLowerCase() + (texts ? " " + texts[at] : "");
    row.hidden = !words.every((word) => text.includes(word));
    shown += !row.hidden;
  });
  count.textContent = `${shown} of ${rows.length}`;
}
function load() {
  if (typeof TEXTS !== "undefined" || !said.checked) return filter();
  const script = document.createElement("script");
  script.src = "texts.js";
  script.onload = filter;
  document.head.append(script);
}
if (field) { field.addEventListener("input", filter); said.addEventListener("change", load); filter(); }
