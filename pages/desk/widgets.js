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
    // Words at the ends of a scale, and at most in its middle, stand below one row of numbers.
    const worded = row.flatMap((o, i) => (name(o) !== o.shown ? [i] : []));
    const ends = role === "radio" && row.length > 3 && worded.length > 0 && worded.every((i) => [0, (row.length - 1) / 2, row.length - 1].includes(i));
    if (ends)
      return [
        options.row(view, criterion, index, row.map((o) => ({ ...o, words: name(o), label: o.shown, say: "" })), marks, role),
        el("div", { class: "ends", "aria-hidden": "true" }, [0, (row.length - 1) / 2, row.length - 1].map((i) => el("span", { class: "label", dir: "auto" }, worded.includes(i) ? name(row[i]) : ""))),
      ];
    const long = wordy && !criterion.across && (row.length > 5 || row.some((o) => o.label.length > LONG));
    return el("div", { class: `options ${long ? "list" : wordy ? "" : "plain"}`, role: role === "radio" ? "radiogroup" : "group", "aria-labelledby": `name-${index} statement-${index}`, style: `--count: ${row.length}` },
      row.map((option) => {
        const at = criterion.options.findIndex(({ value }) => value === option.value);
        return el("button", { type: "button", role, class: "option", "aria-checked": "false", "data-at": at,
                       "aria-label": wordy || (option.words ?? option.shown) !== option.shown ? `${option.shown}, ${option.words ?? name(option)}` : option.shown,
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

// A range that stands nowhere until there is an answer; `moved` is told where it is pushed. What a hand does with it is over with the
// last change of a press: browsers send no click for a tap, a drag or a key, and no change where an untouched range is pressed in its middle.
const range = (view, { label, low, high }, index, step, moved) => {
  const store = (stays) => view.act("answer", index, Number(pushed.value), stays);
  const pushed = el("input", { type: "range", min: low, max: high, step, "aria-label": t("{name}, slider", { name: label }),
    oninput: () => moved(pushed.value),
    onpointerdown: () => (pushed.press = { item: view.model.at, stored: false }),
    onpointercancel: () => (pushed.press = null),
    onpointerup: () => setTimeout(() => pressed()),
    onchange: () => (pushed.press ? pressed() : store(true)),
    // A key that leaves it where it stands, such as End at its end, is an answer all the same.
    onkeyup: ({ key }) => RANGE_KEYS.includes(key) && pushed.classList.contains("unset") && (moved(pushed.value), store(true)) });
  const pressed = () => {
    const { press } = pushed;
    if (!press || press.stored || press.item !== view.model.at || pushed.disabled) return;
    press.stored = true;
    moved(pushed.value);
    setTimeout(() => (pushed.press = null), 400); // a change that is told late belongs to it
    store();
    pushed.blur();
  };
  return pushed;
};

// A number in a range: typed, or pushed.
const number = {
  draw(view, criterion, index) {
    const { label, low, high } = criterion;
    const whole = number.whole(criterion);
    const field = el("input", { type: "number", min: low, max: high, step: whole ? 1 : "any", inputmode: low < 0 ? "text" : whole ? "numeric" : "decimal", placeholder: `${low}–${high}`, "aria-label": label,
      oninput: () => number.checked(view, criterion, field),
      onblur: () => number.typed(view, index, field), onkeydown: (event) => event.key === "Enter" && (event.preventDefault(), field.blur()) });
    return [el("div", { class: "measure", onclick: (event) => event.stopPropagation() },
      field, range(view, criterion, index, whole ? 1 : "any", (value) => (field.value = value))),
      hint(number.says(criterion), "always")];
  },

  whole: ({ low, high }) => Number.isInteger(low) && Number.isInteger(high),

  says(criterion) {
    const whole = number.whole(criterion);
    return t(whole ? "A whole number from {low} to {high}" : "A number from {low} to {high}", criterion);
  },

  refuse(view, criterion) {
    const whole = number.whole(criterion);
    view.model.say(t(whole ? "Write a whole number from {low} to {high}." : "Write a number from {low} to {high}.", criterion), "bad");
  },

  // What more keys cannot mend; a number that is too low may be the beginning of a longer one.
  checked: (view, criterion, { validity }) => (validity.stepMismatch || validity.rangeOverflow) && number.refuse(view, criterion),

  typed(view, index, field) {
    const criterion = view.model.criteria[index];
    const given = view.model.item?.answers[criterion.name];
    if (field.value === String(given ?? "") && field.validity.valid) return;
    if (field.value && field.checkValidity()) return view.act("answer", index, Number(field.value));
    field.value = given ?? "";
    number.refuse(view, criterion);
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

// The words of the reply that is rated, as they were written.
const replied = (item) => item?.said?.find((message) => message.reply && message.turn === item.turn)?.text ?? "";
const hint = (words, when = "") => el("p", { class: `hint ${when}` }, words);
const leave = (view, index) => view.act("focus", view.model.beside(index, 1));

// The first answer without words: there is nothing to mark, or to change.
const nothing = (view, criterion, index, words) => view.button("compose", [`${t(criterion.options[0].say)} `, key("0")], "", index, 0, words);

// Words of a text, [begin, end] each: what stands between white space, and of languages without it what a dictionary says.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter(undefined, { granularity: "word" });
const wordsOf = (text) =>
  [...text.matchAll(/\S+/gu)].flatMap(({ index, 0: word }) =>
    segmenter && UNSPACED.test(word) ? [...segmenter.segment(word)].map((part) => [index + part.index, index + part.index + part.segment.length]) : [[index, index + word.length]]);

// The first place of a rising list that a condition holds for; its length where it holds for none.
const firstPlace = (list, holds) => {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle], middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

// Places are stored in characters, as Python counts them; in JavaScript some characters count twice.
const places = (text) => {
  const twice = [...text.matchAll(/[\u{10000}-\u{10ffff}]/gu)].map(({ index }) => index);
  return {
    stored: (at) => at - firstPlace(twice, (index) => index >= at),
    shown: (at) => at + firstPlace(twice, (index, i) => index - i >= at),
  };
};

// Passages of the reply, whole words: marked with the mouse, word by word with the keyboard, by a thumb that touches a word or selects
// some. What is marked on the screen is what is stored, to the character.
const passages = {
  draw(view, criterion, index) {
    const text = el("div", { class: "passage", tabindex: 0, role: "group", dir: "auto", "aria-label": t("The reply: ← and → go from word to word, with Shift over several; Space marks them or takes a mark away"),
      onclick: (event) => (event.stopPropagation(), passages.clicked(view, index, text, event)), onpointerdown: (event) => passages.pressed(view, index, text, event),
      onkeydown: (event) => passages.move(view, index, text, event), onblur: () => passages.cursor(text, null),
      onfocus: () => text.matches(":focus-visible") && (text.cursor ?? passages.cursor(text, passages.inSight(text))) });
    const mark = el("button", { type: "button", class: "button choose", hidden: true, onclick: (event) => (event.stopPropagation(), passages.chosen(view, index, text)) }, t("Mark the selected words"));
    text.choose = mark;
    return [text, mark, nothing(view, criterion, index, ""), hint(t("1 begins; ← → and Shift choose words, Space marks them.")), hint(t("Touch a word to mark it, or to take a mark away; select several words to mark them together."), "touch")];
  },

  // [begin, end] of each mark, in characters.
  marks: (kept) => [...(kept ?? "").matchAll(/(\d+)-(\d+)/g)].map(([, a, b]) => [+a, +b]),

  show(question, answer, criterion, { model }) {
    const box = question.querySelector(".passage");
    const { item } = model;
    const kept = answer == null ? null : item.reasons[criterion.name] ?? "";
    if (!item || (box.item === item && box.kept === kept)) return;
    if (box.item !== item) {
      const text = replied(item);
      Object.assign(box, { text, words: wordsOf(text), places: places(text) });
    }
    Object.assign(box, { item, kept });
    const part = (begin, end, marked) => el("span", { "data-at": begin, class: marked ? "marked" : "" }, box.text.slice(begin, end));
    const parts = [];
    let at = 0;
    for (const [begin, end] of passages.marks(kept).map((mark) => mark.map(box.places.shown))) {
      if (begin > at) parts.push(part(at, begin, false));
      parts.push(part(Math.max(at, begin), end, true));
      at = Math.max(at, end);
    }
    if (at < box.text.length) parts.push(part(at, box.text.length, false));
    box.replaceChildren(...parts);
    if (box.cursor) passages.cursor(box, ...box.cursor);
  },

  // The part of the box with a place, and the place in it.
  node(box, at) {
    const i = firstPlace([...box.children], (child) => +child.dataset.at > at) - 1;
    const child = box.children[Math.max(0, i)];
    return [child.firstChild, at - child.dataset.at];
  },

  // What stands between two places, as the browser knows it.
  stretch(box, begin, end) {
    const stretch = document.createRange();
    stretch.setStart(...passages.node(box, begin));
    const [last, at] = passages.node(box, end - 1);
    stretch.setEnd(last, at + 1);
    return stretch;
  },

  // The cursor stands on a word, or on those from one to another.
  cursor(box, at, from = at) {
    box.cursor = at == null ? null : [at, from];
    const words = box.words ?? [];
    if (at == null || !words[at] || !words[from]) return CSS.highlights?.delete("word");
    CSS.highlights?.set("word", new Highlight(passages.stretch(box, words[Math.min(at, from)][0], words[Math.max(at, from)][1])));
    const seen = passages.stretch(box, ...words[at]).getBoundingClientRect();
    const { top, bottom } = box.getBoundingClientRect();
    if (seen.top < top) box.scrollTop += seen.top - top - 8;
    else if (seen.bottom > bottom) box.scrollTop += seen.bottom - bottom + 8;
  },

  // The first word that can be seen.
  inSight(box) {
    const { top } = box.getBoundingClientRect();
    return Math.min(box.words.length - 1, firstPlace(box.words, (word) => passages.stretch(box, ...word).getBoundingClientRect().top >= top - 1));
  },

  // The word at a place of the screen; -1 where none is. Lines lie below each other, in whatever direction each is read.
  under(box, x, y) {
    const rects = (i) => [...passages.stretch(box, ...box.words[i]).getClientRects()];
    const within = (i) => rects(i).some(({ left, right, top, bottom }) => x >= left - 4 && x <= right + 4 && y >= top - 2 && y <= bottom + 2);
    for (let i = firstPlace(box.words, (_, j) => Math.max(...rects(j).map(({ bottom }) => bottom)) >= y - 2); i < box.words.length; i += 1) {
      if (within(i)) return i;
      if (Math.min(...rects(i).map(({ top }) => top)) > y + 2) return -1;
    }
    return -1;
  },

  move(view, index, box, event) {
    event.stopPropagation();
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8, Home: -1e6, End: 1e6 }[event.key];
    const [at, from] = box.cursor ?? [0, 0];
    if (step) {
      const next = Math.max(0, Math.min(box.words.length - 1, at + step));
      passages.cursor(box, next, event.shiftKey ? from : next);
    } else if (event.key === " " && box.words.length) passages.mark(view, index, box, Math.min(at, from), Math.max(at, from));
    else if (event.key === "0") view.act("compose", index, 0, "");
    else if (["Escape", "Enter"].includes(event.key)) box.blur(), event.key === "Enter" && box.kept !== null && leave(view, index);
    else return;
    event.preventDefault();
  },

  // A drag with the mouse may end anywhere; what a finger selects waits for a button, because it may still be changed.
  pressed(view, index, box, event) {
    box.by = event.pointerType;
    box.had = !!passages.selection(box);
    if (event.pointerType === "mouse") document.addEventListener("pointerup", () => setTimeout(() => passages.chosen(view, index, box)), { once: true });
    else document.addEventListener("selectionchange", box.watch ??= () => {
      const there = !!passages.selection(box);
      box.choose.hidden = !there;
      if (!box.isConnected) document.removeEventListener("selectionchange", box.watch);
    });
  },

  // A mark is taken away by a click on it; a finger also marks the word that it touches, unless it ends a selection.
  clicked(view, index, box, { clientX, clientY }) {
    if (view.model.locked || passages.selection(box) || !box.words?.length) return;
    const word = passages.under(box, clientX, clientY);
    const [begin] = box.words[word] ?? [];
    const marked = word >= 0 && passages.marks(box.kept).some(([a, b]) => box.places.shown(a) < box.words[word][1] && begin < box.places.shown(b));
    if (word >= 0 && (marked || (box.by !== "mouse" && !box.had))) passages.mark(view, index, box, word, word, true);
  },

  // [begin, end] of what is selected of the reply; null where nothing is.
  selection(box) {
    const root = box.getRootNode();
    const chosen = root.getSelection?.() ?? getSelection();
    const range = chosen?.rangeCount ? chosen.getRangeAt(0) : null;
    if (!range || range.collapsed || !range.intersectsNode(box)) return null;
    const place = (node, offset, outside) => {
      if (!box.contains(node)) return outside;
      if (node === box) return +(box.children[offset]?.dataset.at ?? box.text.length);
      return node.nodeType === Node.TEXT_NODE ? +node.parentNode.dataset.at + offset : +node.dataset.at + (offset ? node.textContent.length : 0);
    };
    const [begin, end] = [place(range.startContainer, range.startOffset, 0), place(range.endContainer, range.endOffset, box.text.length)];
    return begin < end ? [begin, end] : null;
  },

  // Mark the words of which something is selected.
  chosen(view, index, box) {
    const selected = box.isConnected && !view.model.locked && passages.selection(box);
    if (!selected) return;
    const first = firstPlace(box.words, ([, end]) => end > selected[0]);
    const last = firstPlace(box.words, ([begin]) => begin >= selected[1]) - 1;
    (box.getRootNode().getSelection?.() ?? getSelection()).removeAllRanges();
    box.choose.hidden = true;
    if (first <= last) passages.mark(view, index, box, first, last);
  },

  // Words that lie over other marks take them away; else they are one more. With `joined` it grows together with the marks beside it.
  mark(view, index, box, first, last, joined = false) {
    const criterion = view.model.criteria[index];
    let [begin, end] = [box.places.stored(box.words[first][0]), box.places.stored(box.words[last][1])];
    const kept = view.model.item.answers[criterion.name] == null ? [] : passages.marks(view.model.item.reasons[criterion.name]);
    const others = kept.filter(([a, b]) => b <= begin || a >= end);
    if (others.length === kept.length) {
      const neighbour = (i) => box.words[i]?.map(box.places.stored) ?? [NaN, NaN];
      const [before, after] = joined ? [others.findIndex(([, b]) => b === neighbour(first - 1)[1]), others.findIndex(([a]) => a === neighbour(last + 1)[0])] : [-1, -1];
      if (before >= 0) [begin] = others[before];
      if (after >= 0) [, end] = others[after];
      const rest = others.filter((_, i) => i !== before && i !== after);
      others.splice(0, others.length, ...rest, [begin, end]);
    }
    const marks = others.sort((x, y) => x[0] - y[0]).map((mark) => mark.join("-")).join(" ");
    if (marks.length > criterion.most) return view.model.say(t("This question takes no more passages. Mark longer ones."), "bad");
    view.act("compose", index, marks ? 1 : 0, marks);
  },

  key: (question, digit, view, index) => (digit === "0" ? view.act("compose", index, 0, "") : question.querySelector(".passage").focus({ focusVisible: true })),
};

// The reply as it should be, written into its own words. Where it is left as it is no text is kept: that is the reply's own. Fields write
// every end of a line in one way, so that a reply is compared as it stands in one.
const asField = (item) => replied(item).replace(/\r\n?/g, "\n");
const correction = {
  draw(view, criterion, index) {
    let at; // what is written belongs to the item that was there when it was begun
    const commit = () => {
      clearTimeout(view.rewriting);
      if (at !== view.model.at || text.readOnly || text.disabled) return;
      const over = [...text.value].length - criterion.most;
      text.classList.toggle("over", over > 0);
      if (over > 0) return view.model.say(t("Too long by {over} characters, so it is not saved yet. The limit is {most}.", { over: grouped(over), most: grouped(criterion.most) }), "bad");
      const same = text.value === asField(view.model.item);
      view.act("compose", index, same ? 0 : 1, same ? "" : text.value);
    };
    const text = el("textarea", { class: "rewrite", rows: 6, "aria-label": criterion.label, "aria-describedby": `limit-${index}`, dir: "auto",
      onfocus: () => (at = view.model.at), onclick: (event) => event.stopPropagation(), onchange: commit,
      oninput: () => (clearTimeout(view.rewriting), (view.rewriting = setTimeout(commit, WRITTEN))),
      onkeydown: (event) => {
        const over = event.key === "Enter" && (event.ctrlKey || event.metaKey);
        if (event.key !== "Escape" && !over) return;
        event.preventDefault();
        if (over || text.value !== asField(view.model.item)) commit();
        text.blur();
        if (over && !text.classList.contains("over")) leave(view, index);
      } });
    return [text, nothing(view, criterion, index, ""), hint(t("1 begins, Ctrl+Enter ends.")), el("p", { class: "hint limit always", id: `limit-${index}` })];
  },

  show(question, answer, criterion, { model }) {
    const text = question.querySelector(".rewrite");
    text.disabled = !model.item || model.locked;
    if (text === text.getRootNode().activeElement && text.item === model.item) return;
    if (text.item !== model.item) {
      const long = [...replied(model.item)].length > criterion.most;
      text.readOnly = text.hidden = long;
      question.querySelector(".limit").textContent = long
        ? t("A correction has at most {most} characters, and this reply is longer. Leave it unchanged, or skip the item.", { most: grouped(criterion.most) })
        : t("At most {most} characters", { most: grouped(criterion.most) });
    }
    text.item = model.item;
    text.value = text.hidden ? "" : (answer == null ? null : model.item.reasons[criterion.name]) || replied(model.item);
    text.classList.remove("over");
    text.classList.toggle("unset", answer == null);
  },

  key(question, digit, view, index) {
    const text = question.querySelector(".rewrite");
    if (digit === "0") return view.act("compose", index, 0, "");
    if (text.hidden) return view.model.say(question.querySelector(".limit").textContent, "bad");
    text.focus();
  },
};

// The order of the sides of an item: a rank for each, by digits from A on, of which two may be the same.
const ranking = {
  keys: ["1", "2", "…", "0"],

  best: (answer, side) => String(answer)[side] === "1",

  draw: () => [el("div", { class: "ranks" }), hint(t("1 is the best. The keys rank A, then B and so on; 0 starts again."))],

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
    if (digit > given.length) return view.model.say(t("“{key}” is not an answer to this question.", { key: digit }), "bad");
    const side = given.indexOf(0);
    if (side >= 0) return view.act("order", index, ranking.with(item, criteria[index], side, +digit));
    view.act("order", index, given.map((_, i) => (i ? 0 : +digit))); // once more from A on
  },
};

const WIDGETS = { options, several, number, slider, passages, correction, ranking };
const widget = (criterion) => WIDGETS[criterion.widget ?? "options"];
