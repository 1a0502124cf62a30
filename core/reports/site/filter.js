const rows = [...document.querySelectorAll("#disagreements tbody tr")];
document.getElementById("search").addEventListener("input", event => {
  const wanted = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !wanted.every(word => text.includes(word));
    shown += !row.hidden;
  }
  document.getElementById("count").textContent = `${shown} answers`;
});
