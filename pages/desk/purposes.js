// What a purpose has of its own: what is shown of an item. All else differs by data.

// Two replies to one dialogue, or two dialogues, by nobody named.
const pair = {
  sides(item, view) {
    const side = (letter, said, cut) =>
      el("section", { class: "side", "data-side": letter, tabindex: 0, "aria-label": `${item.whole ? t("Dialogue") : t("Reply")} ${letter}` },
        el("header", {}, el("strong", {}, letter), cut && el("strong", { class: "cut" }, t("cut off at the length limit"))), said);
    return el("div", { class: "sides" }, item.sides.map((given, i) =>
      item.whole ? side("AB"[i], given.map((message) => view.message(message, item))) : side("AB"[i], view.content(given.text, given.images), given.cut)));
  },

  refresh(item, { model, talk }) {
    const answer = item?.answers[model.criteria[model.focus]?.name];
    for (const side of talk.querySelectorAll(".side")) side.classList.toggle("better", side.dataset.side === "A" ? answer > 0 : answer < 0);
  },
};

const PURPOSES = { pair };
