// What every desk needs of the page around it: its life beside Streamlit's reruns, drawing once for many changes, and the keys' names.

// One desk for one piece of work, as long as its component is on the page. `make` gets (host, root, data, leave) and has close().
const mounted = (make) => {
  const desks = new WeakMap();
  return ({ data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector(".desk");
    let desk = desks.get(root);
    if (desk && desk.fixed.desk !== data.desk) {
      desk.close();
      desk = null;
    }
    if (!desk) {
      desk = make(parentElement.host ?? parentElement, root, data, () => setTriggerValue("leave", true));
      desks.set(root, desk);
    }
    const call = (desk.call = {});
    return () => {
      // Streamlit also cleans up after a call that a later one has overtaken: only the last one ends the desk.
      if (desk.call !== call) return;
      desk.close();
      desks.delete(root);
    };
  };
};

// Many things change with one key; they are drawn together, once. `draw` gets the set of what changed.
const together = (draw) => {
  let what = null;
  return (changed) => {
    if (!what) {
      what = new Set();
      queueMicrotask(() => {
        const all = what;
        what = null;
        draw(all);
      });
    }
    if (changed) what.add(changed);
  };
};

// The line that says that nobody is signed in any more. `show` draws it; what is done goes on being kept.
const signedOutLine = (outbox) => {
  const sentence = el("span");
  const form = el("button", { type: "button", class: "button", onclick: () => location.reload() }, t("Sign in"));
  const line = el("div", { class: "out", role: "alert", hidden: true }, sentence, form);
  const show = () => {
    line.hidden = !outbox.signedOut;
    form.hidden = /[?&]desk=/.test(location.search); // they come by their link
    if (outbox.signedOut && sentence.textContent !== outbox.signedOut) sentence.textContent = outbox.signedOut;
  };
  return { line, show };
};

// Whether somebody is writing, whose keys are letters.
const typing = (event) => {
  const target = event.composedPath()[0];
  if (target.type === "range") return RANGE_KEYS.includes(event.key); // its own keys alone
  return target.isContentEditable || target.closest?.(".passage") || ["input", "textarea", "select"].includes(target.localName);
};

// Whether the key belongs to something else: to a button or link that was reached with Tab, or to a menu outside the desk.
const taken = (event, name, host) => {
  const target = event.composedPath()[0];
  const control = target.closest?.("button, a, summary, [role=menuitem], [role=option]");
  if (control && (name === "Space" || (name === "Enter" && control.getAttribute("role") !== "radio"))) return true;
  return !event.composedPath().includes(host) && !!target.closest?.("[role=menu], [role=listbox], [role=dialog]");
};

// The keys that move a range.
const RANGE_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

const MOVES = ["Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"];

// The key by what it means on this keyboard, whatever alphabet it is set to; null for keys that are none of ours. French keyboards give
// digits only with shift, Cyrillic ones give no Latin letters: then the place of the key counts.
const keyName = ({ key, code, shiftKey }, letters) => {
  if (key === "?") return "?";
  if (key === " ") return "Space";
  if (MOVES.includes(key)) return key;
  const digit = /^[0-9]$/.test(key) ? key : !shiftKey && /^Digit([0-9])$/.exec(code)?.[1];
  if (digit) return digit;
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : /^Key([A-Z])$/.exec(code)?.[1].toLowerCase();
  return letters.includes(letter) && !shiftKey ? letter : null;
};
