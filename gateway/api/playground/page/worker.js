// Runs the gateway's own Python in Pyodide. Everything it needs comes with the first message; nothing is fetched.

const NOWHERE = "https://nothing.invalid/";
let session, call;

async function start({ files, sources, python: compiled }) {
  self.fetch = async (url) => {
    const name = String(url).replace(NOWHERE, "");
    if (name !== "pyodide.asm.wasm" && !(name in files)) throw new TypeError("The playground requests nothing.");
    return new Response(files[name]);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => (
    { module: compiled, instance: await WebAssembly.instantiate(compiled, imports) }
  );
  const module = (name) => import(URL.createObjectURL(new Blob([sources[name]], { type: "text/javascript" })));
  const [{ loadPyodide }, { default: createPyodideModule }, { loadRe2 }, { loadStudent }] =
    await Promise.all(["pyodide.mjs", "pyodide.asm.mjs", "re2.js", "student.js"].map(module));
  const report = (step) => self.postMessage({ step });
  report("Starting Python");
  const [python, re2] = await Promise.all([
    loadPyodide({
      indexURL: NOWHERE,
      packageBaseUrl: NOWHERE,
      lockFileContents: { info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", version: "314.0.7", python: "3.14.2" }, packages: {} },
      createPyodideModule,
    }),
    loadRe2(files["re2.wasm"]),
  ]);
  python.registerJsModule("svc_re2", re2);
  python.registerJsModule("svc_student", loadStudent(files["student.onnx"]));
  report("Unpacking the gateway");
  python.unpackArchive(files["gateway.zip"], "zip", { extractDir: "/gateway" });
  for (const name of Object.keys(files)) {
    if (name.endsWith(".whl")) python.unpackArchive(files[name], "wheel", { extractDir: "/gateway" });
  }
  report("Loading the recognizers");
  python.runPython("import sys; sys.path.insert(0, '/gateway')");
  const made = python.runPython(`
import json
from pathlib import Path
from gateway.api.playground.browser.names import with_names
from gateway.api.playground.browser.session import Session, call
from gateway.detection import builtin_detector
policies = json.loads(Path("/gateway/policies.json").read_text("utf-8"))
(Session(policies, builtin_detector(), with_names(builtin_detector())), call)
`);
  [session, call] = [made.get(0), made.get(1)];
  report("Trying the first text");
  ask("protect", ["Anna Schmidt, anna@acme.test", "default", "standard", [], []]);
  self.postMessage({ ready: ask("policies", []) });
}

function ask(method, args) {
  const said = JSON.parse(call(session, method, JSON.stringify(args)));
  if ("error" in said) throw new Error(said.error);
  return said.result;
}

self.onmessage = async ({ data }) => {
  if (data.files) {
    try {
      await start(data);
    } catch (error) {
      self.postMessage({ failed: String(error) });
    }
    return;
  }
  try {
    self.postMessage({ id: data.id, result: ask(data.method, data.args) });
  } catch (error) {
    self.postMessage({ id: data.id, error: error.message });
  }
};
