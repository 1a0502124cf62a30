// How a question is answered, a renderer for each widget that core/questions.py names. `draw` makes it, `show` fills in
// an answer beyond what fields and options show, `key` takes a digit that is none of the answers' keys.

const LONG = 24; // characters of an answer's words that do not fit beside others

// A key for each answer.
const options = {
  draw: (view, criterion, index, beside) => options.row(view, criterion, index, criterion.options, beside?.marks),

  // Whether an answer prefers this side of an item.
  best: (answer, side) => (side ? answer < 0 : answer > 0),

  row(view, criterion, index, row, marks = [], role = "radio") {
    const name = (o) => (o.say ? t(o.say) : o.label);
    const wordy = row.some((o) => name(o) !== o.shown);
    const long = wordy && !criterion.across && (row.length > 5 || row.some((o) => o.label.length > LONG));
    return el("div", { class: `options ${long ? "list" : ""}`, role: role === "radio" ? "radiogroup" : "group", "aria-labelledby": `name-${index} statement-${index}`, style: `--count: ${row.length}` },
      row.map((option) => {
        const at = criterion.options.indexOf(option);
        return el("button", { type: "button", role, class: "option", "aria-checked": "false", "data-at": at,
                       "aria-label": wordy ? `${option.shown}, ${name(option)}` : option.shown,
                       onclick: (event) => { event.stopPropagation(); view.press(event, "answer", index, option.value); } },
          el("span", { class: "value" }, option.shown, /[a-z]/.test(option.key) && [" ", key(option.key.toUpperCase())]),
          wordy && name(option) !== option.shown && el("span", { class: "label" }, name(option)),
          marks[at] && el("span", { class: "by" }, t(marks[at])));
      }));
  },
};

// A key for each label, any number of which may apply; one says that none does.
const several = {
  draw: (view, criterion, index, beside) => options.row(view, criterion, index, criterion.options, beside?.marks, "checkbox"),

  // The answer once this label, or none, was pressed; null where nothing is said any more.
  next: (old, value) => (value === 0 ? (old === 0 ? null : 0) : (old ^ value) || null),

  show(question, answer, { options }) {
    for (const label of question.querySelectorAll(".option")) {
      const { value } = options[label.dataset.at];
      label.setAttribute("aria-checked", answer != null && (value === 0 ? answer === 0 : (answer & value) > 0));
      label.tabIndex = 0;
    }
  },
};

// A range that stands nowhere until there is an answer; `moved` is told where it is pushed.
const range = (view, { label, low, high }, index, step, moved) => {
  const pushed = el("input", { type: "range", min: low, max: high, step, "aria-label": t("{name}, slider", { name: label }),
    oninput: () => moved(pushed.value),
    // A click on the middle of an untouched slider changes nothing, and is an answer all the same.
    onclick: () => (view.act("answer", index, Number(pushed.value)), pushed.blur()) });
  return pushed;
};

// A number in a range: typed, or pushed.
const number = {
  draw(view, criterion, index) {
    const { label, low, high } = criterion;
    const step = Number.isInteger(low) && Number.isInteger(high) && high - low > 9 ? 1 : "any";
    const field = el("input", { type: "number", min: low, max: high, step, inputmode: "numeric", placeholder: `${low}–${high}`, "aria-label": label,
      onblur: () => number.typed(view, index, field), onkeydown: (event) => event.key === "Enter" && (event.preventDefault(), field.blur()) });
    return el("div", { class: "measure", onclick: (event) => event.stopPropagation() },
      field, range(view, criterion, index, step, (value) => (field.value = value)));
  },

  typed(view, index, field) {
    const { low, high, name } = view.model.criteria[index];
    const given = view.model.item?.answers[name];
    if (field.value === String(given ?? "") && field.validity.valid) return;
    if (field.value && field.checkValidity()) return view.act("answer", index, Number(field.value));
    field.value = given ?? "";
    view.model.say(t("Write a number from {low} to {high}.", { low, high }), "bad");
  },

  // Begin to write it with its first digit.
  key(question, digit) {
    const field = question.querySelector("input");
    field.focus();
    field.value = digit;
  },
};

// From one word to another: pushed, or a key for each place.
const slider = {
  draw(view, criterion, index, beside) {
    const [first, last] = criterion.ends;
    const ten = criterion.options.find((option) => /[a-z]/.test(option.key));
    const shown = el("output", { class: "value" });
    const marks = criterion.options.flatMap(({ shown }, at) => (beside?.marks?.[at] ? `${shown} ${t(beside.marks[at])}` : []));
    return [el("div", { class: "measure", onclick: (event) => event.stopPropagation() },
      el("span", { class: "label", dir: "auto" }, first), range(view, criterion, index, 1, (value) => (shown.textContent = value)),
      el("span", { class: "label", dir: "auto" }, last, ten && [" ", key(ten.key.toUpperCase())]), shown), marks.length > 0 && el("p", { class: "by" }, marks.join(" · "))];
  },

  show: (question, answer) => (question.querySelector("output").textContent = answer ?? "–"),
};

// The words of the reply that is rated, as they were written. Places are counted in characters, as Python counts them.
const replied = (item) => item?.said?.find((message) => message.reply && message.turn === item.turn)?.text ?? "";
const hint = (words) => el("p", { class: "hint" }, words);
const leave = (view, index) => view.act("focus", view.model.beside(index, 1));

// The first answer without words: there is nothing to mark, or to change.
const nothing = (view, criterion, index, words) => view.button("compose", [`${t(criterion.options[0].say)} `, key("0")], "", index, 0, words);

// Passages of the reply, marked with the mouse or word by word: a mark or its end is where the cursor stands.
const passages = {
  draw(view, criterion, index) {
    const text = el("div", { class: "passage", tabindex: 0, role: "group", dir: "auto", "aria-label": t("The reply: ← and → go from word to word, with Shift over several; Space marks them or takes a mark away"),
      onclick: (event) => event.stopPropagation(), onmouseup: () => passages.selected(view, index, text),
      onkeydown: (event) => passages.move(view, index, text, event), onblur: () => passages.cursor(text, null), onfocus: () => text.cursor ?? passages.cursor(text, 0, 0) });
    return [text, nothing(view, criterion, index, ""), hint(t("1 begins; ← → and Shift choose words, Space marks them."))];
  },

  // [begin, end] of each mark.
  marks: (kept) => [...(kept ?? "").matchAll(/(\d+)-(\d+)/g)].map(([, a, b]) => [+a, +b]),

  show(question, answer, criterion, { model }) {
    const box = question.querySelector(".passage");
    const { item } = model;
    const kept = answer == null ? null : item.reasons[criterion.name] ?? "";
    if (!item || (box.item === item && box.kept === kept)) return;
    Object.assign(box, { item, kept, words: [] });
    const marks = passages.marks(kept);
    let at = 0;
    box.replaceChildren(...(replied(item).match(/\S+|\s+/gu) ?? []).map((part) => {
      const [begin, end] = [at, (at += [...part].length)];
      const word = el("span", { "data-at": begin, class: marks.some(([a, b]) => a < end && begin < b) ? "marked" : "" }, part);
      if (part.trim()) box.words.push({ word, begin, end });
      return word;
    }));
    if (box.cursor) passages.cursor(box, ...box.cursor);
  },

  cursor(box, at, from = at) {
    box.cursor = at == null ? null : [at, from];
    box.words?.forEach(({ word }, i) => word.classList.toggle("here", at != null && i >= Math.min(at, from) && i <= Math.max(at, from)));
    if (at != null) box.words?.[at]?.word.scrollIntoView({ block: "nearest" });
  },

  move(view, index, box, event) {
    event.stopPropagation();
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8, Home: -1e6, End: 1e6 }[event.key];
    const [at, from] = box.cursor ?? [0, 0];
    if (step) {
      const next = Math.max(0, Math.min(box.words.length - 1, at + step));
      passages.cursor(box, next, event.shiftKey ? from : next);
    } else if (event.key === " " && box.words.length) passages.mark(view, index, box.words[Math.min(at, from)].begin, box.words[Math.max(at, from)].end);
    else if (event.key === "0") view.act("compose", index, 0, "");
    else if (["Escape", "Enter"].includes(event.key)) box.blur(), event.key === "Enter" && box.kept !== null && leave(view, index);
    else return;
    event.preventDefault();
  },

  selected(view, index, box) {
    const chosen = box.getRootNode().getSelection?.() ?? getSelection();
    const place = (node, offset) => (node === box ? NaN : +(node.parentNode.dataset.at ?? NaN) + [...node.textContent.slice(0, offset)].length);
    const [a, b] = [place(chosen.anchorNode ?? box, chosen.anchorOffset), place(chosen.focusNode ?? box, chosen.focusOffset)].sort((x, y) => x - y);
    if (Number.isNaN(a + b)) return;
    const there = passages.marks(box.kept).find(([begin, end]) => begin <= a && a < end);
    if (a === b && there) passages.mark(view, index, ...there);
    else if (a < b) chosen.removeAllRanges(), passages.mark(view, index, a, b);
  },

  // A mark that lies over others takes them away; else it is one more.
  mark(view, index, begin, end) {
    const { name } = view.model.criteria[index];
    const kept = view.model.item.answers[name] == null ? [] : passages.marks(view.model.item.reasons[name]);
    const others = kept.filter(([a, b]) => b <= begin || a >= end);
    const marks = others.length < kept.length ? others : [...others, [begin, end]].sort((x, y) => x[0] - y[0]);
    view.act("compose", index, marks.length ? 1 : 0, marks.map((mark) => mark.join("-")).join(" "));
  },

  key: (question, digit, view, index) => (digit === "0" ? view.act("compose", index, 0, "") : question.querySelector(".passage").focus()),
};

// The reply as it should be, written into its own words.
const correction = {
  draw(view, criterion, index) {
    let at; // what is written belongs to the item that was there when it was begun
    const commit = () => (clearTimeout(view.rewriting), at === view.model.at && view.act("compose", index, text.value === replied(view.model.item) ? 0 : 1, text.value));
    const text = el("textarea", { class: "rewrite", rows: 6, maxlength: 20000, "aria-label": criterion.label, dir: "auto",
      onfocus: () => (at = view.model.at), onclick: (event) => event.stopPropagation(), onchange: commit,
      oninput: () => (clearTimeout(view.rewriting), (view.rewriting = setTimeout(commit, WRITTEN))),
      onkeydown: (event) => {
        const over = event.key === "Enter" && (event.ctrlKey || event.metaKey);
        if (event.key !== "Escape" && !over) return;
        event.preventDefault();
        if (over || text.value !== replied(view.model.item)) commit();
        text.blur();
        if (over) leave(view, index);
      } });
    return [text, nothing(view, criterion, index, null), hint(t("1 begins, Ctrl+Enter ends."))];
  },

  show(question, answer, criterion, { model }) {
    const text = question.querySelector(".rewrite");
    text.disabled = !model.item || model.locked;
    if (text === text.getRootNode().activeElement && text.item === model.item) return;
    text.item = model.item;
    text.value = (answer == null ? null : model.item.reasons[criterion.name]) || replied(model.item);
    text.classList.toggle("unset", answer == null);
  },

  key(question, digit, view, index) {
    if (digit === "0") return view.act("compose", index, 0, null);
    question.querySelector(".rewrite").focus();
  },
};

// The order of the sides of an item: a rank for each, by digits from A on, of which two may be the same.
const ranking = {
  keys: ["1", "2", "…", "0"],

  best: (answer, side) => String(answer)[side] === "1",

  draw: () => [el("div", { class: "ranks" }), hint(t("1 is the best. The keys rank A, then B and so on; 0 begins again."))],

  next: (old, score) => score,

  // 0 where there is none yet.
  given: ({ drafts, answers, sides }, name) => drafts?.[name] ?? (answers[name] == null ? sides.map(() => 0) : [...String(answers[name])].map(Number)),

  show(question, answer, criterion, view) {
    const box = question.querySelector(".ranks");
    const { item } = view.model;
    if (!item?.sides) return;
    const index = +question.dataset.index;
    const places = item.sides.map((_, i) => i + 1);
    if (box.item !== item)
      box.replaceChildren(...item.sides.map((_, side) => el("div", { class: "options rank", role: "radiogroup", "aria-label": LETTERS[side] },
        el("strong", {}, LETTERS[side]), places.map((place) => el("button", { type: "button", role: "radio", class: "option", "aria-label": `${LETTERS[side]}: ${place}`,
          onclick: (event) => (event.stopPropagation(), view.press(event, "order", index, ranking.with(item, criterion, side, place))) }, place)))));
    box.item = item;
    box.style.setProperty("--count", places.length);
    const ranks = ranking.given(item, criterion.name);
    [...box.children].forEach((row, side) => row.querySelectorAll(".option").forEach((option, i) => {
      option.setAttribute("aria-checked", ranks[side] === i + 1);
      option.tabIndex = i + 1 === (ranks[side] || 1) ? 0 : -1;
      option.disabled = view.model.locked;
    }));
  },

  // The ranks with another one for a side; where ties are not allowed, who had it has none.
  with: (item, { name, ties }, side, place) => ranking.given(item, name).map((rank, i) => (i === side ? place : rank === place && !ties ? 0 : rank)),

  key(question, digit, view, index) {
    const { item, criteria } = view.model;
    const given = ranking.given(item, criteria[index].name);
    if (digit === "0") return view.act("order", index, given.map(() => 0));
    if (digit > given.length) return view.model.say(t("“{key}” is no answer to this question.", { key: digit }), "bad");
    const side = given.indexOf(0);
    if (side >= 0) return view.act("order", index, ranking.with(item, criteria[index], side, +digit));
    view.act("order", index, given.map((_, i) => (i ? 0 : +digit))); // once more from A on
  },
};

const WIDGETS = { options, several, number, slider, passages, correction, ranking };
const widget = (criterion) => WIDGETS[criterion.widget ?? "options"];
