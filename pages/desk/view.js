// What the desk looks like. The frame and the questions are built once; a change touches only what differs, so that
// neither the focus nor a half-read dialogue is disturbed.

const CHIPS = 39;
const WRITTEN = 1500; // how long after the last key words are recorded, in milliseconds
const STATES = { open: () => t("open"), done: () => t("submitted"), skipped: () => t("skipped") };

// After a click with the mouse the keys are the desk's again.
const unfocused = (event) => event.detail && event.currentTarget.blur();

class View {
  constructor(root, model, act) {
    Object.assign(this, { root, model, act });
    this.build();
  }

  build() {
    const { fixed } = this.model;
    this.drawn = this.lit = this.filled = null;
    this.tools ??= new Set(); // what tools said that is unfolded
    this.root.lang = this.language = this.model.language;
    speak(fixed.words?.[this.language]);
    for (const criterion of fixed.criteria) if (criterion.say) criterion.label = t(criterion.say); // the desk's own questions
    this.title = el("span", { class: "title" }, fixed.title);
    this.bar = el("span", { class: "fill" });
    this.progress = el("span", { class: "progress", role: "progressbar", "aria-label": t("Progress"), "aria-valuemin": 0 }, this.bar);
    this.tally = el("span", { class: "tally" });
    this.left = el("span", { class: "left", title: t("Estimated from your time per item so far") });
    this.mine = this.button("mine", [" ", key("L")], "quiet mine");
    this.saving = el("span", { class: "saving", role: "status" });
    this.signedOut = signedOutLine(this.model.outbox);
    this.strip = el("nav", { class: "strip", "aria-label": t("Items") });
    this.card = el("aside", { class: "card", "aria-label": t("About this dialogue"), tabindex: 0 });
    this.talk = el("section", { class: "talk", "aria-label": t("Dialogue"), tabindex: 0 });
    this.notice = el("div", { class: "notice", role: "status", "aria-live": "polite" });
    this.questions = el("div");
    this.steps = el("ol", { class: "steps", "aria-hidden": "true" });
    this.showAsked();
    this.submit = this.button("submit", [`${t("Submit")} `, key("Enter")], "primary");
    this.undo = this.button("undo", [`${t("Undo")} `, key("U")]);
    this.skip = this.button("skip", [`${t("Skip")} `, key("S")]);
    this.flag = this.button("flag", [`${t("Flag")} `, key("F")]);
    this.ask = el("section", { class: "ask", "aria-label": t("Questions") },
      this.steps, this.questions, this.notice,
      el("div", { class: "foot" }, this.submit, el("div", { class: "tools" }, this.undo,
        fixed.reasons.length ? [this.skip, this.flag] : this.button("earlier", [`${t("Back")} `, key("←")]),
        Object.entries(this.model.purpose.keys ?? {}).map(([k, [label, does]]) => this.button(does, [`${label} `, key(k.toUpperCase())])))));
    this.end = el("section", { class: "end" });
    this.root.className = `desk ${fixed.purpose} ${fixed.bare ? "" : "menu"}`;
    this.body = el("div", { class: "body" }, this.card, this.talk, this.ask, this.end);
    this.root.replaceChildren(
      el("header", { class: "top" },
        fixed.back && this.button("back", `‹ ${t(fixed.back)}`, "quiet"),
        this.title, this.progress, this.tally, this.left, this.saving,
        el("span", { class: "push" }),
        this.mine,
        el("span", { class: "you" }, fixed.you),
        this.button("reading", [`${t("Text")} `, key("T")], "quiet"),
        fixed.guidelines && this.button("guidelines", [`${t("Guidelines")} `, key("G")], "quiet"),
        this.button("help", [`${t("Keys")} `, key("?")], "quiet keys")),
      this.signedOut.line, this.strip, this.body);
  }

  button(action, content, style = "", ...rest) {
    return el("button", { type: "button", class: `button ${style}`, onclick: (event) => (event.stopPropagation(), this.press(event, action, ...rest)) }, content);
  }

  // After a click with the mouse the focus goes back to the page, so that Enter does not press the same button again.
  press(event, action, ...rest) {
    if (event.detail) event.currentTarget.blur();
    this.act(action, ...rest);
  }

  // The questions, of every item or of the present one.
  showAsked() {
    const { criteria, item } = this.model;
    this.lit = this.filled = null;
    this.questions.className = `questions ${criteria.length > 4 ? "many" : ""}`;
    this.questions.replaceChildren(...criteria.map((c, i) => this.question(c, i, item?.beside?.[c.name])));
    this.steps.replaceChildren(...criteria.map((c, i) => el("li", { onclick: () => this.act("focus", i) }, c.label)));
  }

  question(criterion, index, beside) {
    const depends = Object.keys(criterion.when ?? {}).length > 0;
    return el("div", { class: `question ${depends ? "dependent" : ""}`, "data-index": index, onclick: () => this.act("focus", index) },
      el("div", { class: "head" }, el("div", { class: "name", dir: "auto", id: `name-${index}` }, criterion.label), beside && this.score(beside)),
      criterion.statement && el("p", { class: "statement", dir: "auto", id: `statement-${index}` }, criterion.statement),
      criterion.help && this.help(criterion),
      beside && this.words(beside),
      widget(criterion).draw(this, criterion, index, beside),
      beside?.own != null && this.button("keep", [`${t("Keep mine")} `, key("K")], "", index),
      criterion.reason && this.because(criterion, index),
      el("div", { class: "told prose", hidden: true, dir: "auto" }));
  }

  // What the rubric explains of a question, beside it; unfolded, it stays so for the next items.
  help(criterion) {
    return el("details", { class: "help", onclick: (event) => event.stopPropagation() }, el("summary", { onclick: unfocused }, t("What counts?")), el("div", { class: "prose", dir: "auto" }, marked(criterion.help, true)));
  }

  // What a judge, or others, answered: their scores, and their reasons as they wrote them.
  score({ score, mock }) {
    return el("div", { class: "score" }, mock && el("span", { class: "tag" }, "mock"), score);
  }

  words({ said }) {
    return said.map(([who, text]) => el("div", { class: "reasons", dir: "auto", tabindex: 0 }, who && el("strong", {}, `${who}: `), text));
  }

  because(criterion, index) {
    let at; // what is written belongs to the item that was there when it was begun
    const commit = (over = false) => (clearTimeout(this.writing), at === this.model.at && this.act("reason", index, words.value, over));
    const words = el("textarea", { rows: 1, maxlength: criterion.most ?? 4000, "aria-label": t("Reason: {name}", { name: criterion.label }), 
      onfocus: () => (at = this.model.at), onchange: () => commit(), onclick: (event) => event.stopPropagation(),
      // Kept also where somebody closes the page while writing.
      oninput: () => (clearTimeout(this.writing), (this.writing = setTimeout(commit, WRITTEN))),
      onkeydown: (event) => {
        if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey)) {
          event.preventDefault();
          const over = event.key === "Enter";
          commit(over);
          words.blur();
          if (over && this.model.fixed.submits && !this.model.unsaid(criterion)) this.act("focus", this.model.beside(index, 1));
        }
      } });
    return el("div", { class: "because" }, words, el("p", { class: "hint always" }, t("At most {most} characters", { most: grouped(criterion.most ?? 4000) })));
  }

  field(index, tag) {
    return this.questions.children[index].querySelector(tag);
  }

  // What is being written is over: a thumb on a button does not take the focus from a field in every browser.
  settle() {
    const written = this.root.getRootNode().activeElement;
    if (written?.matches("textarea, [type=number]") && this.questions.contains(written)) written.blur();
  }

  write(index) {
    const field = this.field(index, "textarea");
    field.disabled = false; // the answer that opens it is not drawn yet
    this.questions.children[index].classList.add("active");
    field.focus();
  }

  render(what) {
    const { model } = this;
    if (model.language !== this.language) this.build(), what.add("item");
    if (model.closed) return this.showClosed(), this.showTop();
    this.root.classList.toggle("over", model.at === null);
    this.root.classList.toggle("locked", model.locked);
    this.root.classList.toggle("loading", model.loading || model.at === undefined);
    dress(this.root, model.reading);
    if (what.has("item")) this.showItem();
    else if (what.has("letters") || this.lineChanged()) this.redraw(() => this.showItem());
    this.showTop();
    this.showStrip();
    this.showQuestions();
  }

  showTop() {
    const { model } = this;
    const { done, all } = model.tally;
    this.title.textContent = model.training ? `${model.fixed.title} · ${t("Training")}` : model.fixed.title;
    this.bar.style.width = all ? `${(100 * done) / all}%` : 0;
    this.progress.setAttribute("aria-valuenow", done);
    this.progress.setAttribute("aria-valuemax", all);
    const left = model.minutesLeft;
    this.tally.textContent = all ? t("{done} of {all}", { done, all }) : "";
    this.left.textContent = left === null ? "" : left < 90 ? t("about {minutes} min left", { minutes: left }) : t("about {hours} h left", { hours: Math.round(left / 60) });
    const [skipped, flagged] = [model.count("skipped"), model.strip.filter(([, , flag]) => flag).length];
    this.mine.hidden = !(skipped || flagged);
    this.mine.firstChild.textContent = `${[skipped && t("Skipped {count}", { count: skipped }), flagged && t("Flagged {count}", { count: flagged })].filter(Boolean).join(" · ")} `;
    this.signedOut.show();
    const waits = model.outbox.stuck ? model.outbox.signedOut ?? t("No connection. Your answers are kept in this browser; the next item comes when it is back.") : t("The next item is on its way…");
    if (this.wait && this.wait.textContent !== waits) this.wait.textContent = waits;
    const { state, says } = model.closed ? { state: "closed", says: "" } : model.outbox;
    if (this.saving.dataset.state !== state) {
      this.saving.dataset.state = state;
      this.saving.textContent = says;
    }
  }

  showStrip() {
    const { model } = this;
    const middle = model.at === null ? model.strip.length - 1 : Math.max(0, model.position);
    const from = Math.max(0, Math.min(middle - Math.floor((2 * CHIPS) / 3), model.strip.length - CHIPS));
    const shown = model.strip.slice(from, from + CHIPS);
    const drawn = JSON.stringify([model.at, shown]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.strip.replaceChildren(...shown.map(([id, state, flagged], i) => {
      const number = from + i + 1;
      const says = `${t("Item {number}", { number })}, ${STATES[state]()}${flagged ? `, ${t("flagged")}` : ""}`;
      return el("button", { type: "button", class: `chip ${state} ${flagged ? "flagged" : ""}`, title: says, "aria-label": says,
                            "aria-current": id === model.at && "true", tabindex: id === model.at ? 0 : -1,
                            onclick: (event) => this.press(event, "go", id) }, number);
    }));
    const current = this.strip.querySelector("[aria-current]");
    if (current) this.strip.scrollLeft = current.offsetLeft - this.strip.clientWidth / 2;
  }

  showItem() {
    const { model } = this;
    const item = model.item;
    this.end.replaceChildren(...(model.at === null ? this.ending() : []));
    if (!item) {
      this.card.replaceChildren();
      this.wait = el("p", { class: "wait", role: "status" });
      this.talk.replaceChildren(model.loading ? this.wait : "");
      return;
    }
    this.card.hidden = !item.context.length;
    this.card.lang = this.talk.lang = item.language;
    this.card.replaceChildren(...this.cards(item, this.opened ?? true));
    if (item.beside) this.showAsked();
    this.line = model.siblings;
    // The next reply of one dialogue: it is read on from the same place.
    const same = this.spoken === item.said || (this.line.length > 1 && this.line.some(([, one]) => one.id === this.seen));
    const place = this.talk.scrollTop;
    Object.assign(this, { spoken: item.said, seen: item.id });
    const said = item.said.map((message) => this.message(message, item));
    const above = el("div", { class: "card above", hidden: !item.context.length }, this.cards(item, this.opened ?? !this.narrow));
    const sides = item.sides && PURPOSES.pair.sides(item, this);
    this.talk.replaceChildren(...[item.about && this.about(item.about), above, ...said, sides ?? el("div", { class: "close" }, t("End of the dialogue"))].filter(Boolean));
    this.talk.scrollTo({ top: same ? place : sides && said.length ? this.talk.scrollHeight : 0, behavior: "instant" });
    const rated = this.talk.querySelector(".rated.reply");
    rated?.scrollIntoView({ block: rated.offsetHeight > this.talk.clientHeight ? "start" : "center", behavior: "instant" });
  }

  // A message of an item, of one of its sides; the reply that is rated stands out.
  message({ turn, reply, speaker, text, cut, images, tool }, item) {
    const here = item.turn != null && item.turn === turn;
    if (tool && !this.model.reading.letters && !this.model.fixed.raw) return this.tool(turn, speaker, text, images, here);
    const sibling = reply && !here && this.line?.find(([number]) => number === turn)?.[1];
    return el("article", { "data-turn": turn, class: `message ${reply ? "reply" : "user"} ${here ? "rated" : item.turn == null ? "" : "aside"}` },
      el("header", {}, t(speaker), turn && el("span", { class: "turn" }, ` ${turn}`), here && reply && el("strong", { class: "this" }, this.model.fixed.submits ? t("Rate this reply") : t("This reply is rated")),
        cut && el("strong", { class: "cut" }, t("truncated at the length limit")), sibling && this.sibling(sibling)),
      this.content(text, images));
  }

  // What a tool was asked, or answered, folded: its first words are in sight.
  tool(turn, speaker, text, images, here) {
    const first = text.trim().split("\n")[0].slice(0, 80);
    const open = this.tools.has(text);
    return el("article", { "data-turn": turn, class: `message tool ${here ? "rated" : ""}` },
      el("details", { open, ontoggle: (event) => this.tools[event.currentTarget.open ? "add" : "delete"](text) },
        el("summary", { onclick: unfocused }, el("strong", {}, t(speaker)), turn && el("span", { class: "turn" }, ` ${turn}`), " ", el("span", { class: "first" }, first)),
        el("div", { class: "text", dir: "auto" }, called(text), images && this.content("", images))));
  }

  // Whether other replies of this dialogue have arrived, or have other answers, since it was drawn.
  lineChanged() {
    return !!this.model.item && this.told(this.model.siblings) !== this.told(this.line ?? []);
  }

  told(line) {
    return JSON.stringify(line.filter(([, one]) => one.id !== this.model.at).map(([, one]) => [one.id, one.state, one.answers]));
  }

  // Another reply of the dialogue that is rated here: what was answered, and the way to it.
  sibling(item) {
    const given = this.model.criteria.filter((c) => item.answers[c.name] != null).map((c) => c.options.find((o) => o.value === item.answers[c.name])?.shown ?? "✓");
    const says = item.state === "open" ? (given.length ? t("Continue rating") : t("Rate this one")) : STATES[item.state]();
    return el("button", { type: "button", class: `sibling ${item.state}`, onclick: (event) => (event.stopPropagation(), this.press(event, "go", item.id)) }, [says, given.length > 0 && ` ${given.join(" · ")}`]);
  }

  // What was said, with its images.
  content(text, images) {
    return [
      el("div", { class: `text ${text.trim() ? "" : "none"}`, dir: "auto" }, text.trim() ? this.written(text) : t("(an empty reply)")),
      ...(images ?? []).filter(([, src]) => src.startsWith("data:image/")).map(([alt, src]) => el("img", { src, alt, title: alt })),
    ];
  }

  // What an item is about, in sight while its dialogue scrolls beneath.
  about({ title, facts }) {
    return el("header", { class: "about" }, el("h2", {}, title), el("p", {}, facts.join(" · ")));
  }

  // Where there is no room for a column of its own, the card lies above the dialogue and scrolls away with it; it opens as it was left.
  cards(item, open) {
    return item.context.map(([heading, text]) =>
      el("details", { open },
        el("summary", { onclick: (event) => (this.opened = !event.currentTarget.parentNode.open) }, heading), el("div", { class: "prose", dir: "auto" }, this.written(text))));
  }

  written(text) {
    const { raw } = this.model.fixed; // shown as it was written to whoever sits here
    return raw || this.model.reading.letters ? el("div", { class: `letters ${raw ?? ""}` }, text) : marked(text);
  }

  // The same place of the dialogue stays in sight.
  redraw(draw) {
    const [place, seen] = [this.talk.scrollTop, this.talk.scrollHeight];
    draw();
    this.talk.scrollTo({ top: (place * this.talk.scrollHeight) / seen, behavior: "instant" });
  }

  // A message gets its height when it comes into sight, which moves the end: scrolling goes on until the end stays where it is.
  toEnd() {
    const end = this.talk.lastElementChild;
    let [seen, still] = [0, 0];
    const step = () => {
      if (still > 2 || end !== this.talk.lastElementChild) return;
      const height = this.talk.scrollHeight;
      [seen, still] = [height, height === seen ? still + 1 : 0];
      this.talk.scrollTo({ top: height, behavior: "instant" });
      requestAnimationFrame(step);
    };
    step();
  }

  get narrow() {
    return this.root.clientWidth <= 760 || this.root.clientHeight <= 520;
  }

  showQuestions() {
    const { model } = this;
    const item = model.item;
    const written = this.root.getRootNode().activeElement;
    for (const [i, question] of [...this.questions.children].entries()) {
      const answer = item?.answers[model.criteria[i].name];
      question.hidden = this.steps.children[i].hidden = !!item && !model.asks(model.criteria[i]);
      for (const field of question.querySelectorAll("input, .because textarea")) {
        field.disabled = !item || model.locked || (field.localName === "textarea" && answer == null && model.fixed.submits);
        field.classList.toggle("unset", answer == null);
        // Not under the hands of whoever writes in it, or pushes it.
        if (this.filled === item?.id && (field.type === "range" ? field.press && !field.press.stored : field === written)) continue;
        field.value = (field.localName === "textarea" ? item?.reasons[model.criteria[i].name] : answer) ?? "";
      }
      const reason = question.querySelector(".because textarea");
      if (reason) reason.placeholder = item && model.explained(model.criteria[i]) ? t("Why? (needed)") : t("Why?");
      const active = !!item && model.focus === i;
      question.classList.toggle("active", active);
      question.classList.toggle("answered", answer != null);
      this.steps.children[i].className = `${active ? "active" : ""} ${answer != null ? "answered" : ""}`;
      const { options } = model.criteria[i];
      const chosen = options.findIndex((o) => o.value === answer);
      for (const option of question.querySelectorAll(".option")) {
        const j = +option.dataset.at;
        option.setAttribute("aria-checked", j === chosen);
        option.tabIndex = j === Math.max(0, chosen) ? 0 : -1;
        option.disabled = !item || model.locked;
      }
      widget(model.criteria[i]).show?.(question, answer, model.criteria[i], this);
      this.showTold(question.querySelector(".told"), model.criteria[i], item?.told?.[model.criteria[i].name], answer);
      if (active && this.lit !== i) question.scrollIntoView({ block: "nearest" });
    }
    this.lit = model.focus;
    this.filled = item?.id;
    const ready = !!item && !model.missing().length;
    this.ask.classList.toggle("ready", ready && model.focus === model.criteria.length);
    this.submit.disabled = !item;
    this.submit.classList.toggle("waiting", !ready);
    this.submit.firstChild.textContent = `${item?.state === "done" || !model.fixed.submits ? t("Next") : t("Submit")} `;
    model.purpose.refresh?.(item, this);
    this.undo.disabled = !model.done.length;
    this.skip.disabled = !item || model.locked;
    this.flag.disabled = !item;
    this.flag.classList.toggle("on", !!item?.flag);
    this.flag.firstChild.textContent = `${item?.flag ? t("Flagged") : t("Flag")} `;
    this.notice.className = `notice ${model.said?.kind ?? ""}`;
    const said = model.said?.text ?? this.standing(item);
    if (this.notice.textContent !== said) this.notice.textContent = said;
  }

  // The known answer beside the own one, and why it is that.
  showTold(place, { options, named }, told, answer) {
    place.hidden = !told;
    if (!told || place.told === told) return;
    place.told = told;
    const option = options.find((o) => o.value === told.answer);
    const known = !option ? String(told.answer) : named ? option.label : option.label !== option.shown ? `${option.shown}, ${option.label}` : option.shown;
    const hit = answer != null && Math.abs(answer - told.answer) <= told.tolerance + 1e-9;
    place.classList.toggle("missed", !hit);
    place.replaceChildren(el("strong", {}, t(hit ? "As expected: {answer}" : "Expected: {answer}", { answer: told.tolerance ? `${known} ± ${told.tolerance}` : known })),
      ...marked(told.explanation));
  }

  standing(item) {
    if (this.model.locked) return t("The known answers are next to yours. Your answers are locked. Enter goes on.");
    if (item && this.model.training && item.state === "open") return t("Training, attempt {number}: after each item you see the known answers.", { number: this.model.training.attempt });
    if (item?.state === "done") return this.model.fixed.submits ? t("Submitted. You may change your answers; changes are saved at once.") : t("Done. You may change your answers; changes are saved at once.");
    if (item?.state === "skipped") return t("Skipped: {reason}. You can still answer it.", { reason: t(item.reason) });
    if (item && this.model.outbox.windows.size) return t("This desk is open in another window too. Answers appear in both; the later answer counts.");
    if (item && this.model.elsewhere) return t("This desk is in use on another device too. The later answer counts.");
    if (item && !this.model.tally.done && !this.model.done.length && this.model.strip.every(([, state]) => state === "open"))
      return this.welcome();
    return "";
  }

  // A thumb has no keys.
  welcome() {
    const { guidelines } = this.model.fixed;
    if (matchMedia("(hover: none)").matches) return guidelines ? t("Welcome! Read the guidelines first.") : t("Welcome!");
    return guidelines ? t("Welcome! G shows the guidelines, ? shows the keys.") : t("Welcome! ? shows the keys.");
  }

  ending() {
    const { model } = this;
    const skipped = model.count("skipped");
    if (model.training) {
      const told = model.training.over ? t("You have not passed the training. Tell the researcher; your answers are stored.") : t("Nothing to rate here");
      return [el("h1", {}, t("Training")), el("p", {}, told), ...this.code()].filter(Boolean);
    }
    const { over, nothing, submits, back, you } = model.fixed;
    const some = model.strip.length > 0;
    // A crowd worker whose time was over: what they had not begun went to others.
    const late = model.finished && !model.finished.code;
    if (late && model.finished.dealt > model.strip.length)
      return [
        el("h1", {}, t("Your time is up")),
        el("p", {}, t("{you}, you have rated {done} of your {all} items. Your ratings are stored; other annotators rate the rest.", { you, done: model.count("done"), all: model.finished.dealt })),
        el("p", {}, t("There is no completion code for part of the items. Return your submission on the platform, or write to the researcher.")),
      ];
    return [
      el("h1", {}, some ? t(over) : t(nothing)),
      some && submits && el("p", {}, t(skipped ? "{you}, you have rated {done} of {all} items and skipped {skipped}." : "{you}, you have rated {done} of {all} items.",
        { you, done: model.count("done"), all: model.strip.length, skipped })),
      ...this.code(),
      some && el("p", {}, t("You may still look at any item above and change your answers, or close this page.")),
      el("p", {}, some && [this.button("earlier", [`${t("Look again")} `, key("←")]), " "], back && this.button("back", t(back))),
    ].filter(Boolean);
  }

  // The code of a crowd platform, and where it leads.
  code() {
    const { finished } = this.model;
    return [
      finished?.code && el("p", { class: "code" }, `${t("Your completion code:")} `, el("strong", {}, finished.code)),
      finished?.link && el("p", {}, el("a", { class: "button", href: finished.link, rel: "noreferrer" }, t("Finish on Prolific"))),
    ];
  }

  showClosed() {
    this.root.classList.add("over");
    this.strip.replaceChildren();
    this.drawn = null;
    const kept = this.model.outbox.waiting.length > 0;
    this.end.replaceChildren(...[el("h1", {}, t("This desk is closed")), el("p", {}, this.model.closed),
      kept && el("p", {}, t("Answers that were not stored are kept in this browser. They are sent when you open your new link here."))].filter(Boolean));
  }
}
