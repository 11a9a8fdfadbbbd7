// LangChain for JavaScript with its OpenAI package, with a loop of tools.
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const { BASE, KEY, MODEL, PROMPT, STREAM } = process.env;
const save = tool(
  ({ value }) => {
    console.log("TOOL", value);
    return `saved ${value}`;
  },
  { name: "save", description: "Saves a value.", schema: z.object({ value: z.string() }) },
);
const chat = new ChatOpenAI({ model: MODEL, apiKey: KEY, configuration: { baseURL: `${BASE}/v1` } }).bindTools([save]);
const history = [new HumanMessage(PROMPT)];
let answer;
for (;;) {
  if (STREAM === "1") {
    answer = undefined;
    for await (const chunk of await chat.stream(history)) answer = answer ? answer.concat(chunk) : chunk;
  } else answer = await chat.invoke(history);
  history.push(answer);
  if (!answer.tool_calls?.length) break;
  for (const call of answer.tool_calls) history.push(await save.invoke(call));
}
console.log(answer.text);
