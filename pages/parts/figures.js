// Saves the charts that are shown as SVG files, as they are drawn. They are looked up when the list is opened or
// pointed at: another tab may be open by then.
export default function ({ parentElement }) {
  const list = parentElement.querySelector("p");
  const details = parentElement.querySelector("details");
  details.ontoggle = details.onpointerenter = () => {
    const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")].filter(drawn);
    list.replaceChildren(...(charts.length ? charts.map(button) : ["No chart is shown."]));
  };
}

function drawn(chart) {
  return chart.checkVisibility({ visibilityProperty: true }) && chart.querySelector("svg.marks");
}

function button(chart) {
  const made = document.createElement("button");
  made.textContent = titleOf(chart);
  made.onclick = () => {
    const image = drawn(chart);
    if (image) save(new XMLSerializer().serializeToString(image), made.textContent);
  };
  return made;
}

// The heading above a chart; what a screen reader is told of it can be long.
function titleOf(chart) {
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
  const above = headings.filter((one) => one.compareDocumentPosition(chart) & Node.DOCUMENT_POSITION_FOLLOWING);
  return above.at(-1)?.textContent.trim() || "Chart";
}

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80)}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
