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

// The places of some words in what a node shows, as ranges; whether letters are capital does not matter.
function occurrences(node, words) {
  const places = [];
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const sought = words.toLowerCase();
  while (sought && texts.nextNode()) {
    const { currentNode: text } = texts;
    const said = text.data.toLowerCase();
    if (said.length !== text.length) continue; // a few letters of few languages are longer in small
    for (let at = said.indexOf(sought); at >= 0; at = said.indexOf(sought, at + sought.length)) {
      const place = document.createRange();
      place.setStart(text, at);
      place.setEnd(text, at + sought.length);
      places.push(place);
    }
  }
  return places;
}

// The desk's own texts in the language of whoever sits there: English ones are the keys. What has no translation stays English.
let WORDS = {};
const speak = (words) => (WORDS = words ?? {});
const t = (text, values = {}) => (Object.hasOwn(WORDS, text) ? WORDS[text] : text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

// A whole number with its thousands apart, as the language of whoever sits there writes it.
const grouped = (number) => number.toLocaleString(WORDS.English ? undefined : "en");

const key = (name) => el("kbd", { "aria-hidden": "true" }, name);

// *actions* in italics, **stress** in bold, `code`; with `links` also links.
const MARKS = /(`[^`\n]+`|\*\*(?!\s)[^*\n]+(?<!\s)\*\*|\*(?!\s)[^*\n]+(?<!\s)\*)/;
const LINKS = new RegExp(`${MARKS.source.slice(0, -1)}|\\[[^\\]\\n]+\\]\\(https?:\\/\\/[^\\s)]+\\))`);

function inline(text, links) {
  return text.split(links ? LINKS : MARKS).map((piece, i) => {
    if (i % 2 === 0) return piece;
    if (piece.startsWith("`")) return el("code", {}, piece.slice(1, -1));
    if (piece.startsWith("**")) return el("strong", {}, piece.slice(2, -2));
    if (piece.startsWith("*")) return el("em", {}, piece.slice(1, -1));
    const [, words, href] = /^\[([^\]]+)\]\((.+)\)$/.exec(piece);
    return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, words);
  });
}

const FENCE = /^\s*(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6}) +(.*)/;
const ENTRY = /^( *)(?:[-*+]|(\d{1,9})[.)])( +)(\S.*)/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const NESTED = 6; // lists and quotations within each other

// A text of JSON with its lines indented; "" for any other. Words may stand before it, as the name of a tool that is called.
const LONGEST_JSON = 100000;
function indented(text) {
  const trimmed = text.trim();
  if (!/^[{[]/.test(trimmed) || !/[}\]]$/.test(trimmed) || trimmed.length > LONGEST_JSON) return "";
  try {
    const value = JSON.parse(trimmed);
    return typeof value === "object" && value !== null && Object.keys(value).length ? JSON.stringify(value, null, 2) : "";
  } catch {
    return "";
  }
}

// What a tool was asked, or answered: its words, and JSON in it as code.
function called(text) {
  const begins = text.search(/[{[]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  const code = begins < 0 ? "" : indented(text.slice(begins, end));
  if (!code) return [el("pre", { tabindex: 0 }, el("code", {}, text))];
  return [text.slice(0, begins).trim().replace(/\($/, ""), el("pre", { tabindex: 0 }, el("code", {}, code)), text.slice(end).trim().replace(/^\)$/, "")].filter((part) => part);
}

// The one way from Markdown to elements, for guidelines (the researcher's, with `links`), cards and messages (a model's): headings,
// paragraphs, lists, quotations, code, tables. All else (HTML, images, formulas, a model's links) stays as it was written. Every pattern takes time in proportion to a text.
const marked = (text, links = false) => (indented(text) ? [el("pre", { tabindex: 0 }, el("code", {}, indented(text)))] : blocks(text.trim().replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), links, NESTED));

function blocks(lines, links, deeper) {
  const out = [];
  let paragraph = null;
  // The lines from `i` that belong together; afterwards `i` stands behind them.
  let i = 0;
  const rest = (belongs) => {
    const from = i;
    while (i < lines.length && belongs(lines[i], i)) i += 1;
    return lines.slice(from, i);
  };
  while (i < lines.length) {
    const line = lines[i];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    const block = [];
    if (fence) {
      i += 1;
      const code = rest((next) => !next.trim().startsWith(fence[1]));
      i += 1;
      block.push(el("pre", { tabindex: 0 }, el("code", {}, code.join("\n"))));
    } else if (heading) {
      i += 1;
      block.push(el(heading[1].length < 3 ? "h3" : "h4", {}, inline(heading[2], links)));
    } else if (RULE.test(line)) {
      i += 1;
      block.push(el("hr"));
    } else if (deeper && /^ {0,3}>/.test(line)) {
      const quoted = rest((next) => /^ {0,3}>/.test(next)).map((next) => next.replace(/^ *> ?/, ""));
      block.push(el("blockquote", {}, blocks(quoted, links, deeper - 1)));
    } else if (deeper && ENTRY.test(line)) {
      block.push(list(rest, links, deeper));
    } else if (tabular(lines, i)) {
      const [head, , ...rows] = rest((next) => next.includes("|")).map(cells);
      const row = (tag) => (given) => el("tr", {}, head.map((_, j) => el(tag, {}, inline(given[j] ?? "", links))));
      block.push(el("div", { class: "wide", tabindex: 0 }, el("table", {}, el("thead", {}, row("th")(head)), el("tbody", {}, rows.map(row("td"))))));
    }
    if (block.length) out.push(...block), (paragraph = null);
    else {
      i += 1;
      if (!line.trim()) paragraph = null;
      else if (paragraph) paragraph.append("\n", ...inline(line, links));
      else out.push((paragraph = el("p", {}, inline(line, links))));
    }
  }
  return out;
}

// A list: entries of one kind at one depth, each with the lines that are indented below it. `rest` takes the lines that belong to it.
function list(rest, links, deeper) {
  let top;
  let wide;
  let blank = false;
  const entries = [];
  rest((line) => {
    const [, indent, number, space, said] = ENTRY.exec(line) ?? [];
    const depth = /^ */.exec(line)[0].length;
    const nested = top !== undefined && depth > top.depth && (depth >= 2 || !said);
    if (!line.trim()) blank = true;
    else if (nested) entries.at(-1).push(...(blank ? [""] : []), line.slice(Math.min(depth, wide)));
    else if (said === undefined || (top && (RULE.test(line) || !number !== !top.number))) return false;
    else {
      top ??= { depth: indent.length, number };
      wide = line.length - said.length;
      entries.push([said]);
    }
    if (line.trim()) blank = false;
    return true;
  });
  const tight = (body) => (body[0]?.localName === "p" ? [...body[0].childNodes, ...body.slice(1)] : body);
  return el(top.number ? "ol" : "ul", top.number ? { start: top.number } : {}, entries.map((entry) => el("li", {}, tight(blocks(entry, links, deeper - 1)))));
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

// Whether a table begins at a line: its heading, and below it dashes for as many columns.
const tabular = (lines, i) =>
  lines[i].includes("|") && /^[\s|:-]+$/.test(lines[i + 1] ?? "") && /-.*\||\|.*-/.test(lines[i + 1]) && cells(lines[i]).length === cells(lines[i + 1]).length;
