// Google's SDK for JavaScript: generateContent, with a loop of tools.
import { GoogleGenAI, Type } from "@google/genai";

const { BASE, KEY, MODEL, PROMPT, STREAM } = process.env;
const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: BASE } });
const parameters = { type: Type.OBJECT, properties: { value: { type: Type.STRING } } };
const config = { tools: [{ functionDeclarations: [{ name: "save", parameters }] }] };
const contents = [{ role: "user", parts: [{ text: PROMPT }] }];
let parts;
for (;;) {
  const asked = { model: MODEL, contents, config };
  parts = [];
  if (STREAM === "1") {
    for await (const chunk of await client.models.generateContentStream(asked)) {
      parts.push(...(chunk.candidates[0].content.parts ?? []));
    }
  } else {
    parts = (await client.models.generateContent(asked)).candidates[0].content.parts;
  }
  contents.push({ role: "model", parts });
  const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
  if (!calls.length) break;
  for (const call of calls) {
    console.log("TOOL", call.args.value);
    const response = { result: `saved ${call.args.value}` };
    contents.push({ role: "user", parts: [{ functionResponse: { name: "save", response } }] });
  }
}
console.log(parts.map((part) => part.text ?? "").join(""));
