// Building what is seen. All text arrives by textContent: nothing a model, or anybody else, wrote is ever read as HTML.

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

const key = (name) => el("kbd", { "aria-hidden": "true" }, name);

// *actions* in italics and **stress** in bold; in `rich` text also `code`, and with "links" links (for guidelines, which the
// researcher writes).
function inline(text, rich) {
  const marks = rich === "links"
    ? /(\*\*[^*\n]+\*\*|\*[^*\n]+\*|`[^`\n]+`|\[[^\]\n]+\]\(https?:\/\/[^\s)]+\))/
    : rich
      ? /(\*\*[^*\n]+\*\*|\*[^*\n]+\*|`[^`\n]+`)/
      : /(\*\*[^*\n]+\*\*|\*[^*\n]+\*)/;
  return text.split(marks).map((piece) => {
    if (piece.length > 4 && piece.startsWith("**") && piece.endsWith("**")) return el("strong", {}, piece.slice(2, -2));
    if (piece.length > 2 && piece.startsWith("*") && piece.endsWith("*")) return el("em", {}, piece.slice(1, -1));
    if (!rich) return piece;
    if (piece.length > 2 && piece.startsWith("`") && piece.endsWith("`")) return el("code", {}, piece.slice(1, -1));
    const link = rich === "links" && /^\[([^\]]+)\]\((https?:.+)\)$/.exec(piece);
    return link ? el("a", { href: link[2], target: "_blank", rel: "noopener noreferrer" }, link[1]) : piece;
  });
}

// What somebody said: paragraphs, their line breaks kept by the style sheet.
const speech = (text) =>
  text.trim().split(/\n\s*\n/).map((paragraph) => el("p", {}, inline(paragraph, false)));

// Guidelines (with "links") and cards: headings, lists, quotations, rules, paragraphs.
function prose(text, rich = true) {
  return text.trim().split(/\n\s*\n/).flatMap((block) => {
    const lines = block.split("\n");
    const out = [];
    let list = null;
    for (const line of lines) {
      const heading = /^(#{1,6})\s+(.*)/.exec(line);
      const entry = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)/.exec(line);
      if (entry) {
        const tag = entry[1] ? "ol" : "ul";
        if (!list || list.localName !== tag) out.push((list = el(tag, entry[1] ? { start: entry[1] } : {})));
        list.append(el("li", {}, inline(entry[2], rich)));
        continue;
      }
      if (list && /^\s+\S/.test(line)) {
        list.lastChild.append(" ", ...inline(line.trim(), rich));
        continue;
      }
      list = null;
      const last = out.at(-1);
      if (heading) out.push(el(heading[1].length < 3 ? "h3" : "h4", {}, inline(heading[2], rich)));
      else if (/^\s*(-{3,}|\*{3,})\s*$/.test(line)) out.push(el("hr"));
      else if (/^>\s?/.test(line)) out.push(el("blockquote", {}, inline(line.replace(/^>\s?/, ""), rich)));
      else if (last?.localName === "p") last.append("\n", ...inline(line, rich));
      else out.push(el("p", {}, inline(line, rich)));
    }
    return out;
  });
}
