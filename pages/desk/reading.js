// How somebody reads at a desk, and their own pace there: what all desks of annotators share.

const READING = { size: "normal", width: "normal", contrast: false, letters: false, language: "" };

// The language chosen, else the browser's where the desk has its texts, else English.
const languageOf = (reading, words) => [reading.language, navigator.language.split("-")[0]].find((name) => name === "en" || words?.[name]) ?? "en";

const dress = (root, { size, width, contrast }) => {
  Object.assign(root.dataset, { size, width });
  root.classList.toggle("contrast", contrast || matchMedia("(prefers-contrast: more)").matches);
};

// How much was done today (of the study's goal), when a break is due, how long an item takes: never how good
// the answers are.
const quietly = (pace, { a_day: goal, break_after: rest } = {}) => {
  if (!pace?.items) return "";
  const said = [goal ? t("{count} of {goal} today", { count: pace.items, goal }) : t("{count} today", { count: pace.items })];
  if (rest && pace.items % rest === 0) said.push(t("a good moment for a break"));
  if (pace.seconds) said.push(pace.seconds < 90 ? t("{count} s an item", { count: Math.round(pace.seconds) }) : t("{count} min an item", { count: (pace.seconds / 60).toFixed(1) }));
  return said.join(" · ");
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
