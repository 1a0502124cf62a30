// Two replies to the same dialogue, side by side, by nobody named: which is better?

const VERDICTS = { A: "A is better", B: "B is better", C: "a tie" };

const pair = {
  keys: ["a", "b", "t", "n"],
  parts: () => 1,
  finished: (item) => item.verdict !== null,
  start: () => 0,

  effect(item, event) {
    item.verdict = event.verdict;
    item.comment = event.comment;
  },

  event: (item, changed) => ({ item: item.id, ...item.about, verdict: item.verdict, comment: item.comment, ...changed }),

  prefer(line, verdict) {
    const { item } = line;
    line.answer(this.event(item, { verdict }), this.event(item, {}), VERDICTS[verdict]);
  },

  press(name, line, dialogs) {
    if (name === "n") return this.note(line, dialogs);
    const verdict = { a: "A", b: "B", t: "C" }[name];
    if (verdict) this.prefer(line, verdict);
  },

  note(line, dialogs) {
    const { item } = line;
    note(dialogs, "Why?", item.comment, (comment) => {
      if (item.verdict === null) item.comment = comment;
      else line.record(this.event(item, { comment }));
      line.changed();
    });
  },

  help: [
    [["A", "B"], "the reply on the left, on the right is better"],
    [["T"], "a tie"],
    [["N"], "a note on why"],
  ],

  draw(item, line, act) {
    const said = item.said.map((m) => el("article", { class: `message ${m.reply ? "reply" : "user"}` },
      el("header", {}, m.speaker, el("span", { class: "turn" }, ` ${m.turn}`)), el("div", { class: "text raw", dir: "auto" }, m.text)));
    const reply = (letter, { text, cut }) => el("section", { class: "side", "data-verdict": letter, tabindex: 0, "aria-label": `Reply ${letter}` },
      el("header", {}, el("strong", {}, letter), cut && el("strong", { class: "cut" }, "cut off at the length limit")),
      text.trim() ? el("div", { class: "text raw", dir: "auto" }, text) : el("div", { class: "text none" }, "(an empty reply)"));
    const button = (verdict, label, k) => el("button", { type: "button", class: "button verdict", "data-verdict": verdict, onclick: (event) => act("prefer", verdict, event) }, `${label} `, key(k));
    return {
      left: [el("div", { class: "about" }, el("h2", {}, item.title)), ...said],
      right: [el("div", { class: "sides" }, reply("A", item.replies[0]), reply("B", item.replies[1])),
        el("div", { class: "verdicts" }, button("A", "A is better", "A"), button("C", "A tie", "T"), button("B", "B is better", "B")), el("p", { class: "mine" })],
    };
  },

  // What was asked last is what matters: the dialogue is shown from its end.
  drawn(left) {
    left.scrollTo({ top: left.scrollHeight, behavior: "instant" });
  },

  refresh(item, line, root) {
    for (const button of root.querySelectorAll(".verdict")) button.setAttribute("aria-pressed", button.dataset.verdict === item.verdict);
    for (const side of root.querySelectorAll(".side")) side.classList.toggle("better", side.dataset.verdict === item.verdict);
    const mine = root.querySelector(".mine");
    if (mine) mine.textContent = item.comment && `note: ${item.comment}`;
  },

  act(name, rest, line, dialogs) {
    if (name === "prefer") return this.prefer(line, rest[0]);
    if (name === "note") return this.note(line, dialogs);
  },

  bar: [["note", "Note", "N"]],
};
