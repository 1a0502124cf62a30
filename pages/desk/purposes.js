// What a purpose has of its own: what is shown of an item. All else differs by data.

// Two or more replies to one dialogue, or dialogues, by nobody named.
const LETTERS = "ABCDEFGH";

const pair = {
  sides(item, view) {
    const side = (letter, said, cut) =>
      el("section", { class: "side", "data-side": letter, tabindex: 0, "aria-label": `${item.whole ? t("Dialogue") : t("Reply")} ${letter}` },
        el("header", {}, el("strong", {}, letter), cut && el("strong", { class: "cut" }, t("truncated at the length limit"))), said);
    const n = item.sides.length;
    return el("div", { class: "sides", style: `--across: ${n > 3 ? Math.ceil(n / 2) : n}` }, item.sides.map((given, i) =>
      item.whole ? side(LETTERS[i], given.map((message) => view.message(message, item))) : side(LETTERS[i], el("div", {}, view.content(given.text, given.images)), given.cut)));
  },

  refresh(item, { model, talk }) {
    const criterion = model.criteria[model.focus];
    const answer = item?.answers[criterion?.name];
    talk.querySelectorAll(".side").forEach((side, i) => side.classList.toggle("better", answer != null && !!widget(criterion).best(answer, i)));
  },
};

const PURPOSES = { pair };
