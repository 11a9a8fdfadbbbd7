// The Anthropic SDK for JavaScript: messages, with a loop of tools.
import Anthropic from "@anthropic-ai/sdk";

const { BASE, KEY, MODEL, PROMPT, STREAM } = process.env;
const client = new Anthropic({ baseURL: BASE, apiKey: KEY });
const tools = [{ name: "save", input_schema: { type: "object", properties: { value: { type: "string" } } } }];
const messages = [{ role: "user", content: PROMPT }];
let answer;
for (;;) {
  const asked = { model: MODEL, max_tokens: 100, messages, tools };
  answer = STREAM === "1" ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
  messages.push({ role: "assistant", content: answer.content });
  const calls = answer.content.filter((block) => block.type === "tool_use");
  if (!calls.length) break;
  const content = calls.map((call) => {
    console.log("TOOL", call.input.value);
    return { type: "tool_result", tool_use_id: call.id, content: `saved ${call.input.value}` };
  });
  messages.push({ role: "user", content });
}
console.log(answer.content[0].text);
