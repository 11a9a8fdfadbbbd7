// The OpenAI SDK for JavaScript: chat completions, with a loop of tools.
import OpenAI from "openai";

const { BASE, KEY, MODEL, PROMPT, STREAM } = process.env;
const client = new OpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY });
const parameters = { type: "object", properties: { value: { type: "string" } } };
const tools = [{ type: "function", function: { name: "save", parameters } }];
const messages = [{ role: "user", content: PROMPT }];
let message;
for (;;) {
  const asked = { model: MODEL, messages, tools };
  const answer =
    STREAM === "1"
      ? await client.chat.completions.stream(asked).finalChatCompletion()
      : await client.chat.completions.create(asked);
  message = answer.choices[0].message;
  messages.push(message);
  if (!message.tool_calls?.length) break;
  for (const call of message.tool_calls) {
    const { value } = JSON.parse(call.function.arguments);
    console.log("TOOL", value);
    messages.push({ role: "tool", tool_call_id: call.id, content: `saved ${value}` });
  }
}
console.log(message.content);
