// Spot-check: the dialogue on the left, what each judge said of it on the right; one key says what is to be thought of that.

const FOUND = { reasonable: "Reasonable", too_high: "Too high", too_low: "Too low", seen: "Seen" };
const FINDINGS = [["reasonable", "r"], ["too_high", "h"], ["too_low", "l"]];
// All there is to say of a verdict that could not be read; a score of one's own may go with it.
const SEEN = [["seen", "s"]];
const findings = (j) => (j.failure === null ? FINDINGS : SEEN);

const spot = {
  keys: [...FINDINGS, ...SEEN].map(([, k]) => k).concat("n"),

  parts: (item) => item.judgements.length,
  finished: (item) => item.judgements.length > 0 && item.judgements.every((j) => j.finding !== null),
  start: (item) => Math.max(0, item.judgements.findIndex((j) => j.finding === null)),

  effect(item, event) {
    const judgement = item.judgements.find((j) => j.id === event.judgement);
    if (!judgement) return;
    // A person has one score for a reply: the last one given beside any of its judges, until that one is taken back.
    if (event.corrected !== null) item.own = event.corrected;
    else if (judgement.corrected !== null && judgement.corrected === item.own) item.own = null;
    Object.assign(judgement, { finding: event.finding, comment: event.comment, corrected: event.corrected });
  },

  event: (item, j, changed) => ({ item: item.id, judgement: j.id, finding: j.finding, comment: j.comment, corrected: j.corrected, ...changed }),

  find(line, finding, corrected = null, index = line.focus) {
    const { item } = line;
    const j = item.judgements[index];
    if (!j) return;
    if (!findings(j).some(([name]) => name === finding))
      return line.say(j.failure === null ? `${j.judge} gave a score: say whether it is reasonable, too high or too low.` : "This verdict could not be read: there is no score to judge. S says that you saw it, a digit gives a score of yours.", "bad");
    line.focus = index;
    const what = `“${FOUND[finding].toLowerCase()}” for ${j.judge}`;
    line.answer(this.event(item, j, { finding, corrected }), this.event(item, j, {}), what);
  },

  // The score one would have given says by itself whether the judge's is too high or too low.
  score(line, value) {
    const j = line.item.judgements[line.focus];
    if (!j) return;
    if (j.failure !== null) return this.find(line, "seen", value);
    if (j.score === null) return this.find(line, "reasonable");
    this.find(line, value < j.score ? "too_high" : value > j.score ? "too_low" : "reasonable", value);
  },

  press(name, line, dialogs) {
    const finding = [...FINDINGS, ...SEEN].find(([, k]) => k === name);
    if (finding) return this.find(line, finding[0]);
    if (name === "n") return this.note(line, dialogs);
    const option = line.fixed.options.find((o) => o.key === name);
    if (option) this.score(line, option.value);
    else line.say(`“${name}” is no score here.`, "bad");
  },

  note(line, dialogs) {
    const { item } = line;
    const j = item.judgements[line.focus];
    if (!j) return line.say("There is no judgement here to write a note on.", "bad");
    note(dialogs, `A note on what ${j.judge} said`, j.comment, (comment) => {
      // Before there is a finding the note waits here and goes with it.
      if (j.finding === null) j.comment = comment;
      else line.record(this.event(item, j, { comment }));
      line.changed();
    });
  },

  help: [
    [["R", "H", "L"], "the judge's score is reasonable, too high, too low"],
    [["S"], "seen: of a verdict that could not be read"],
    [["1", "…", "0"], "the score you would give (0 is 10): too high or too low follows from it"],
    [["↑", "↓"], "another judge"],
    [["N"], "a note on this judgement"],
  ],

  draw(item, line, act) {
    const said = item.said.flatMap((m, i) => {
      const last = i === item.said.length - 1;
      const hard = item.challenging && m.turn === item.challenging && !m.reply;
      return [
        hard && el("div", { class: "marker" }, `Turn ${m.turn} was found too hard for the simulator of this dialogue`),
        el("article", { class: `message ${m.reply ? "reply" : "user"} ${last && m.reply && item.last ? "rated" : ""} ${hard ? "hard" : ""}` },
          el("header", {}, m.speaker, el("span", { class: "turn" }, ` ${m.turn}`), last && m.reply && item.last && el("strong", { class: "this" }, "This reply was judged"),
            m.cut && el("strong", { class: "cut" }, "cut off at the length limit")),
          m.text.trim() ? el("div", { class: item.last ? "text raw" : "text raw prosaic", dir: "auto" }, m.text) : el("div", { class: "text none" }, "(an empty reply)")),
      ].filter(Boolean);
    });
    const cards = item.context.map(([heading, text]) => el("details", { class: "given" }, el("summary", {}, heading), el("div", { class: "text raw" }, text)));
    return {
      left: [
        el("div", { class: "about" }, el("h2", {}, item.title), el("p", {}, item.facts.join(" · ")),
          el("p", { class: "why" }, item.reasons.map((reason) => el("span", { class: "tag" }, reason)),
            item.challenging && item.said.length > 2 && el("button", { type: "button", class: "tag", onclick: (event) => act("challenging", event) }, `challenging: turn ${item.challenging} ↑`))),
        ...cards, ...said],
      right: [
        el("p", { class: "question" }, el("strong", {}, line.fixed.criterion), line.fixed.statement !== line.fixed.criterion && ` ${line.fixed.statement}`),
        !item.judgements.length && el("p", { class: "people" }, "None of the judges chosen has judged this."),
        ...item.judgements.map((j, i) => this.card(item, j, i, line, act)),
        item.people.length > 0 && el("p", { class: "people" }, `People: ${item.people.join(", ")}`),
      ].filter(Boolean),
    };
  },

  card(item, j, i, line, act) {
    const { named, options } = line.fixed;
    const score = j.word;
    return el("article", { class: "judged", "data-index": i, onclick: () => act("focus", i) },
      el("header", {}, el("span", { class: "judge" }, j.judge), j.simulated && el("span", { class: "tag" }, "mock"),
        el("span", { class: "score" }, score, el("small", {}, named || j.failure !== null ? "" : ` of ${options.at(-1).shown}`))),
      j.failure !== null
        ? [el("p", { class: "failed" }, j.failure), el("details", { open: true }, el("summary", {}, "The raw reply"), el("div", { class: "text raw" }, j.raw || "(nothing)"))]
        : el("div", { class: "reasons raw", dir: "auto", tabindex: 0 }, j.explanation || "(no explanation)"),
      el("div", { class: "verdicts", role: "group", "aria-label": `${j.judge}: ${score}` }, findings(j).map(([finding, k]) =>
        el("button", { type: "button", class: "button verdict", "data-finding": finding, onclick: (event) => { event.stopPropagation(); act("find", finding, i, event); } },
          `${FOUND[finding]} `, key(k.toUpperCase())))),
      el("div", { class: "scores", style: `--count: ${named ? 1 : Math.min(options.length, 10)}`, role: "group", "aria-label": "The score you would give" }, el("span", { class: "hint" }, "or your score"),
        options.map((o) => el("button", { type: "button", class: "give", onclick: (event) => { event.stopPropagation(); act("score", o.value, i, event); } }, o.word))),
      el("p", { class: "mine" }));
  },

  // The last request and the reply to it: what was judged.
  drawn(left) {
    const request = left.querySelector(".rated")?.previousElementSibling;
    if (!request) return;
    const above = left.querySelector(".about").offsetHeight + 8;
    left.scrollTo({ top: request.getBoundingClientRect().top - left.getBoundingClientRect().top - above, behavior: "instant" });
  },

  refresh(item, line, root) {
    const word = (score) => line.fixed.options.find((o) => o.value === score)?.word ?? score;
    for (const card of root.querySelectorAll(".judged")) {
      const i = +card.dataset.index;
      const j = item.judgements[i];
      const was = card.classList.contains("active");
      card.classList.toggle("active", line.focus === i);
      card.classList.toggle("answered", j.finding !== null);
      if (line.focus === i && !was) card.scrollIntoView({ block: "nearest" });
      for (const button of card.querySelectorAll(".verdict")) button.setAttribute("aria-pressed", button.dataset.finding === j.finding);
      line.fixed.options.forEach((o, n) => card.querySelectorAll(".give")[n]?.setAttribute("aria-pressed", o.value === j.corrected));
      const mine = card.querySelector(".mine");
      if (mine) mine.textContent = [j.corrected !== null && `you would give ${word(j.corrected)}`,
        item.own !== null && item.own !== j.corrected && `your score for this reply is ${word(item.own)}: you have one, whoever judged it, and another would replace it`, j.comment && `note: ${j.comment}`].filter(Boolean).join(" · ");
    }
  },

  act(name, rest, line, dialogs, root) {
    if (name === "find") return this.find(line, rest[0], null, rest[1]);
    if (name === "score") return (line.focus = rest[1]), this.score(line, rest[0]);
    if (name === "note") return this.note(line, dialogs);
    if (name === "challenging") root.querySelector(".marker")?.scrollIntoView({ block: "center" });
  },

  bar: [["note", "Note", "N"]],
};

// A few words, in a window over the page: Enter keeps them, Escape does not.
function note(dialogs, title, text, keep) {
  const field = el("textarea", { rows: 4, maxlength: 4000, "aria-label": title });
  field.value = text;
  const save = () => {
    dialogs.hide();
    keep(field.value.trim());
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    save();
  });
  dialogs.show("note", title, el("div", {}, field,
    el("div", { class: "row" }, el("button", { type: "button", class: "button primary", onclick: save }, `${t("Save")} `, key("Enter")), el("span", { class: "hint" }, t("Shift+Enter begins a new line")))));
  field.focus();
}
