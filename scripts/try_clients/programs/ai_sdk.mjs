// Vercel's AI SDK with Responses; it runs the loop of tools.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const { BASE, KEY, MODEL, PROMPT, STREAM } = process.env;
const model = createOpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY })(MODEL);
const save = tool({
  description: "Saves a value.",
  inputSchema: z.object({ value: z.string() }),
  execute: async ({ value }) => {
    console.log("TOOL", value);
    return `saved ${value}`;
  },
});
const asked = { model, prompt: PROMPT, tools: { save }, stopWhen: stepCountIs(6) };
console.log(STREAM === "1" ? await streamText(asked).text.then((text) => text) : (await generateText(asked)).text);
