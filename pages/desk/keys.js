// The keyboard. Keys are taken at the document, wherever the focus is, except while somebody types.

class Keys {
  constructor(host, model, dialogs, act, view) {
    Object.assign(this, { host, model, dialogs, act, view });
    this.listen = (event) => this.down(event);
    document.addEventListener("keydown", this.listen, true);
  }

  close() {
    document.removeEventListener("keydown", this.listen, true);
  }

  down(event) {
    this.model.clock.touch();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || this.model.closed) return;
    // Streamlit has two plain keys of its own, to run again and to clear its caches: neither is for annotators.
    if (/^[cr]$/i.test(event.key) && !typing(event)) event.stopPropagation();
    // The browser closes a dialog on Escape a moment later; the next key may be quicker.
    if (event.key === "Escape" && this.dialogs.open) {
      event.preventDefault();
      return this.dialogs.hide();
    }
    const target = event.composedPath()[0];
    if (typing(event)) return;
    const name = keyName(event, ["u", "s", "f", "g", "w", "m", "t", "k", "l", ...Object.keys(this.model.purpose.keys ?? {}), ...this.letters]);
    if (!name || taken(event, name, this.host)) return;
    if (this.dialogs.open) {
      if (name.length > 1) return;
    } else if (["Space", "PageUp", "PageDown", "Home", "End"].includes(name)) {
      if (this.view.card.contains(target)) return;
    }
    event.preventDefault();
    event.stopPropagation();
    // A key held down repeats; only moving may.
    if (event.repeat && !/^(Arrow|Page|Space)/.test(name)) return;
    if (this.dialogs.open) this.dialogs.press({ g: "guidelines", f: "flag", s: "skip", t: "reading", l: "mine" }[name] ?? name);
    else this.press(name, event.shiftKey);
  }

  // The letters that answer questions of the present item.
  get letters() {
    return this.model.criteria.flatMap((c) => c.options.flatMap((o) => [o.key, o.letter])).filter((name) => /^[a-z]$/.test(name));
  }

  press(name, shift = false) {
    const { model } = this;
    const digit = /^[0-9]$/.test(name) || this.letters.includes(name);
    if (model.loading && (digit || name === "Enter" || name === "End")) return model.hold(() => this.press(name));
    if (digit) return this.act("digit", name);
    const page = this.view.talk.clientHeight * 0.85;
    const moves = {
      ArrowUp: () => model.look(-1),
      ArrowDown: () => model.look(1),
      ArrowLeft: () => model.step(-1),
      ArrowRight: () => model.step(1),
      Space: () => this.view.talk.scrollBy({ top: shift ? -page : page }),
      PageDown: () => this.view.talk.scrollBy({ top: page }),
      PageUp: () => this.view.talk.scrollBy({ top: -page }),
      Home: () => this.view.talk.scrollTo({ top: 0 }),
      End: () => this.view.toEnd(),
    };
    if (moves[name]) return moves[name]();
    const own = this.model.purpose.keys?.[name]?.[1];
    this.act(own ?? { Enter: "submit", u: "undo", s: "skip", f: "flag", g: "guidelines", w: "words", m: "letters", t: "reading", k: "keep", l: "mine", "?": "help" }[name]);
  }
}
