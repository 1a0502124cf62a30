// How somebody reads at a desk, in this browser.

const READING = { size: "normal", width: "normal", contrast: false, letters: false, language: "" };

const readingKept = () => {
  try {
    return { ...READING, ...JSON.parse(localStorage["concord-reading"] ?? "{}") };
  } catch {
    return READING; // a browser may forbid storage
  }
};

const keepReading = (reading) => {
  try {
    localStorage["concord-reading"] = JSON.stringify(reading);
  } catch {
    // It holds as long as the page is open.
  }
};

// The language chosen, else the browser's where the desk has its texts, else English.
const languageOf = (reading, words) => [reading.language, navigator.language.split("-")[0]].find((name) => name === "en" || words?.[name]) ?? "en";

const dress = (root, { size, width, contrast }) => {
  Object.assign(root.dataset, { size, width });
  root.classList.toggle("contrast", contrast || matchMedia("(prefers-contrast: more)").matches);
};

// The words of a dialogue that are selected, after their turn, or their side; "" where none are. Browsers differ in who knows of a selection in here.
const quoted = (root) => {
  const selection = root.getRootNode().getSelection?.() ?? document.getSelection();
  const within = selection?.anchorNode?.parentElement;
  const message = within?.closest(".message");
  const side = within?.closest(".side")?.dataset.verdict;
  const words = selection?.toString().replace(/\s+/g, " ").trim();
  if (!words || !root.contains(message ?? within)) return "";
  if (side) return `${side}: “${words}”`;
  return message ? t("Turn {turn}: “{words}”", { turn: message.dataset.turn, words }) : "";
};
