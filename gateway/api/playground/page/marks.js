// Texts in pieces: what is marked in them, and where the pieces are after an edit.

// The pieces of a text that has been edited: those before and after the edit stay, until Python has read it.
export function edited(pieces, text) {
  const old = pieces.map((each) => each.text).join("");
  const shorter = Math.min(old.length, text.length);
  let start = 0, end = 0;
  while (start < shorter && old[start] === text[start]) start++;
  while (end < shorter - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end++;
  const before = [], after = [];
  let from = 0, kept = 0, left = 0;
  for (const piece of pieces) {
    const to = from + piece.text.length;
    if (to <= start) { before.push(piece); kept = to; }
    else if (from >= old.length - end) { after.push(piece); left += piece.text.length; }
    from = to;
  }
  return [...before, { text: text.slice(kept, text.length - left), finding: -1, kind: "" }, ...after];
}

// The number of the finding at an offset, or -1.
export function findingAt(pieces, offset) {
  let from = 0;
  for (const { text, finding } of pieces) {
    if (finding >= 0 && from <= offset && offset <= from + text.length) return finding;
    from += text.length;
  }
  return -1;
}

export function inWords(type) { return type.replaceAll("_", " ").toLowerCase(); }

// A piece as an element. `about` is its finding; `explain` is called with that when the mark is chosen.
export function marked({ text, finding, kind }, about, explain) {
  if (!kind) return document.createTextNode(text);
  // A button would not break between lines.
  const mark = document.createElement("span");
  if (explain && about) {
    const onkeydown = (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); explain(about); } };
    Object.assign(mark, { role: "button", tabIndex: 0, onclick: () => explain(about), onkeydown });
  }
  mark.className = `mark ${kind}`;
  mark.dataset.finding = finding;
  mark.append(text);
  const label = { closed: "CLOSED", unknown: "UNKNOWN", hidden: about && inWords(about.type), kept: about && `${inWords(about.type)}, in clear` }[kind];
  if (label) mark.append(Object.assign(document.createElement("span"), { className: "type", textContent: label }));
  return mark;
}

// Moves labels that would be cut off at the right edge.
export function fitLabels(folder) {
  const edge = folder.getBoundingClientRect().right;
  for (const label of folder.querySelectorAll(".type")) {
    label.style.marginLeft = "0";
    label.style.marginLeft = `${Math.min(0, edge - label.getBoundingClientRect().right)}px`;
  }
}
