// How a question is answered, a renderer for each widget that core/questions.py names. `draw` makes it, `show` fills in
// an answer beyond what fields and options show, `key` takes a digit that is none of the answers' keys.

const LONG = 24; // characters of an answer's words that do not fit beside others

// A key for each answer.
const options = {
  draw(view, criterion, index, beside) {
    const rows = new Map();
    for (const option of criterion.options) rows.set(option.row, [...(rows.get(option.row) ?? []), option]);
    return [...rows.values()].map((row) => options.row(view, criterion, index, row, beside?.marks));
  },

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

const WIDGETS = { options, several, number, slider };
const widget = (criterion) => WIDGETS[criterion.widget ?? "options"];
