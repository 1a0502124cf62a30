// The frame around the kinds: top line, keys, the way to and from Python.

const KINDS = { spot, pair, task, settle, discuss };

class Review {
  constructor(host, root, fixed, leave) {
    Object.assign(this, { host, root, fixed, leave });
    this.kind = KINDS[fixed.kind];
    this.clock = new Clock();
    const changed = (this.changed = together((what) => this.render(what)));
    this.outbox = new Outbox(fixed.desk, (report) => this.bus.send?.(report), changed, (event) => this.line.effect(event));
    this.line = new Line(fixed, this.outbox, this.kind, this.clock, changed);
    this.dialogs = new Dialogs(root, this.line, () => document.activeElement?.blur?.());
    this.build();
    this.off = new AbortController();
    const signal = this.off.signal;
    // At the window, before Streamlit's own two plain keys.
    window.addEventListener("keydown", (event) => this.down(event), { capture: true, signal });
    this.root.addEventListener("keydown", (event) => event.stopPropagation(), { signal });
    for (const name of ["pointerdown", "pointermove", "wheel", "touchmove", "scroll"])
      document.addEventListener(name, () => this.clock.touch(), { capture: true, passive: true, signal });
    document.addEventListener("visibilitychange", () => {
      this.clock.run(!document.hidden && !!this.line.item);
      if (document.hidden) this.line.leave();
    }, { signal });
    window.addEventListener("pagehide", () => this.line.leave(), { signal });
    window.addEventListener("online", () => changed(), { signal });
    window.addEventListener("offline", () => changed(), { signal });
    window.addEventListener("beforeunload", (event) => this.outbox.risky && event.preventDefault(), { signal });
    this.bus = globalThis.concordDesk ??= {};
    this.changed("item");
    this.bus.receive = (news) => news.desk === fixed.desk && this.line.receive(news);
    if (this.bus.news) this.bus.receive(this.bus.news);
    if (document.activeElement !== document.body && !document.activeElement.matches("input, textarea")) document.activeElement.blur();
  }

  close() {
    this.line.leave();
    this.off.abort();
    this.outbox.close();
    this.dialogs.hide();
    delete this.bus.receive;
    delete this.bus.news;
  }

  // -- what it looks like

  build() {
    const { fixed, line } = this;
    this.root.lang = this.language = line.language;
    speak(fixed.words?.[this.language]);
    this.kind.begin?.(fixed, line);
    const button = (action, content, style = "") =>
      el("button", { type: "button", class: `button ${style}`, onclick: (event) => this.act(action, event) }, content);
    this.tally = el("span", { class: "tally" });
    this.pace = el("span", { class: "pace" });
    this.saving = el("span", { class: "saving", role: "status" });
    this.signedOut = signedOutLine(this.outbox);
    this.left = el("section", { class: "talk", tabindex: 0, "aria-label": t("What it is about") });
    this.right = el("section", { class: "cards", tabindex: 0, "aria-label": t("Questions") });
    this.notice = el("div", { class: "notice", role: "status", "aria-live": "polite" });
    this.undo = button("undo", [`${t("Undo")} `, key("U")]);
    this.foot = el("div", { class: "foot" }, button("back-one", [`${t("Back")} `, key("←")]), this.undo,
      this.kind.bar.map(([name, label, k]) => button(name, [`${label} `, key(k)])), button("pass", [`${t("Next")} `, key("Enter")]));
    this.end = el("section", { class: "end" });
    this.root.classList.add(fixed.kind);
    this.root.classList.toggle("bare", !!fixed.bare);
    this.root.replaceChildren(
      el("header", { class: "top" }, fixed.back && button("leave", `‹ ${t(fixed.back)}`, "quiet"), el("span", { class: "title" }, fixed.title), this.tally, this.pace, this.saving,
        el("span", { class: "push" }), el("span", { class: "you" }, fixed.you), this.kind.text && button("reading", [`${t("Text")} `, key(this.kind.text.toUpperCase())], "quiet"),
        button("help", [`${t("Keys")} `, key("?")], "quiet keys")),
      this.signedOut.line,
      el("div", { class: "body" }, this.left, el("aside", { class: "ask" }, this.right, this.notice, this.foot), this.end));
  }

  render(what) {
    const { line, kind } = this;
    if (line.language !== this.language) this.build(), what.add("item");
    dress(this.root, line.reading);
    this.root.classList.toggle("over", line.at === null || !!line.closed);
    if (line.closed) return this.end.replaceChildren(el("h1", {}, t("This desk is closed")), el("p", {}, line.closed));
    if (line.at === null) this.end.replaceChildren(...this.ending());
    if (what.has("item") || what.has("letters")) {
      const { left, right } = line.item ? kind.draw(line.item, line, (...rest) => this.act(...rest)) : { left: [el("p", { class: "wait" }, t("The next item is on its way…"))], right: [] };
      this.left.replaceChildren(...left);
      this.right.replaceChildren(...right);
      for (const side of [this.left, this.right]) side.scrollTo({ top: 0, behavior: "instant" });
      if (line.item) kind.drawn?.(this.left);
    }
    if (line.item) kind.refresh(line.item, line, this.root);
    const waiting = new Set(this.outbox.waiting.map((event) => event.item).filter(Boolean)).size;
    this.signedOut.show();
    this.tally.textContent = t("{left} left of {all}", { left: Math.max(0, line.count.left - waiting), all: line.count.of });
    this.pace.textContent = quietly(line.pace);
    this.saving.dataset.state = this.outbox.state;
    this.saving.textContent = this.outbox.says;
    this.undo.disabled = !line.done.length;
    this.notice.className = `notice ${line.said?.kind ?? ""}`;
    this.notice.textContent = line.said?.text ?? "";
  }

  ending() {
    const { line, fixed } = this;
    return [
      el("h1", {}, t(line.count.of ? fixed.over : fixed.nothing)),
      line.passed.size > 0 && el("p", {}, t("{count} you left for later.", { count: line.passed.size })),
      el("div", { class: "row" },
        line.passed.size > 0 && el("button", { type: "button", class: "button", onclick: () => (line.passed.clear(), line.go(line.next(-1))) }, t("Go through them")),
        line.done.length > 0 && el("button", { type: "button", class: "button", onclick: () => line.undo() }, `${t("Undo")} `, key("U")),
        line.ids.length > 0 && el("button", { type: "button", class: "button", onclick: () => line.step(-1) }, `${t("Look again")} `, key("←")),
        fixed.back && el("button", { type: "button", class: "button primary", onclick: () => this.leave() }, t(fixed.back))),
    ].filter(Boolean);
  }

  // -- what is done

  act(name, ...rest) {
    // After a click the focus goes back to the page, so that Enter does not press the same button again.
    const event = rest.find((one) => one instanceof Event);
    if (event?.detail) event.currentTarget.blur();
    const { line } = this;
    if (name === "leave") return this.leave();
    if (name === "help") return this.help();
    if (name === "reading") return this.dialogs.reading();
    if (name === "undo") return line.undo();
    if (name === "pass") return line.pass();
    if (name === "back-one") return line.step(-1);
    if (!line.item) return;
    if (name === "focus") return (line.focus = rest[0]), this.changed();
    this.kind.act(name, rest, line, this.dialogs, this.root);
  }

  help() {
    const rows = [...this.kind.help, [["U"], t("undo the last answer")], [["Enter"], t("the next one; this one stays open")], [["←", "→"], t("back and forth")],
      [["Space", "PgUp", "PgDn"], t("scroll the dialogue")],
      ...(this.kind.text ? [[[this.kind.text.toUpperCase()], t("size of texts, length of lines, contrast")], [["M"], t("show texts as they were written, with the marks of Markdown, and back")]] : []),
      [["?"], t("this help")]];
    this.dialogs.show("help", t("Keys"), el("div", {}, el("table", {}, rows.map(([keys, what]) => el("tr", {}, el("th", {}, keys.map(key)), el("td", {}, what))))));
  }

  // -- the keyboard, wherever the focus is, except while somebody types

  down(event) {
    this.clock.touch();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || this.line.closed) return;
    if (typing(event)) {
      if (event.key === "Escape" && this.dialogs.open) event.preventDefault(), event.stopImmediatePropagation(), this.dialogs.hide();
      return;
    }
    if (event.key === "Escape" && this.dialogs.open) return event.preventDefault(), this.dialogs.hide();
    // Streamlit's R and C never reach it from here: who mistypes must not lose the page.
    const name = keyName(event, [...this.kind.keys, this.kind.text, this.kind.text && "m", "u", "r", "c"]);
    if (!name || ["Home", "End"].includes(name) || (/^[0-9]$/.test(name) && !this.fixed.options && !this.kind.digits)) return;
    if (taken(event, name, this.host)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    // A key held down repeats; only moving may.
    if (event.repeat && !/^(Arrow|Page|Space)/.test(name)) return;
    if (this.dialogs.open) return this.dialogs.press({ g: "guidelines", s: "skip", f: "flag", [this.kind.text]: "reading" }[name] ?? name);
    this.press(name, event.shiftKey);
  }

  press(name, shift) {
    const { line } = this;
    const page = this.left.clientHeight * 0.85;
    const moves = {
      ArrowUp: () => line.look(-1), ArrowDown: () => line.look(1), ArrowLeft: () => line.step(-1), ArrowRight: () => line.step(1),
      Space: () => this.left.scrollBy({ top: shift ? -page : page }), PageDown: () => this.left.scrollBy({ top: page }), PageUp: () => this.left.scrollBy({ top: -page }),
      Enter: () => line.pass(), u: () => line.undo(), "?": () => this.help(),
    };
    if (this.kind.text) Object.assign(moves, { [this.kind.text]: () => this.dialogs.reading(), m: () => line.readAs({ letters: !line.reading.letters }) });
    if (moves[name]) return moves[name]();
    if (line.loading || !line.item) return line.say(t("This item is on its way: the key was not taken."), "bad");
    if (/^[0-9]$/.test(name) || this.kind.keys.includes(name)) this.kind.press(name, line, this.dialogs);
  }
}

export default mounted((...given) => new Review(...given));
