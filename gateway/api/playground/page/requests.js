// The text of the page as a request to a gateway: `base` is its URL, `body` the JSON of the call.

export const REQUESTS = {
  curl: (base, body) => `curl -s '${base}/chat/completions' -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' --data-binary @- <<'JSON'\n${JSON.stringify(body, null, 2)}\nJSON\n`,
  python: (base, { model, messages, ...extra }) => `import json, os\n\nfrom openai import OpenAI\n\nclient = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ["KEY"])\nanswer = client.chat.completions.create(\n    model="${model}",\n    messages=json.loads(${JSON.stringify(JSON.stringify(messages))}),\n    extra_body=json.loads(${JSON.stringify(JSON.stringify(extra))}),\n)\nprint(answer.choices[0].message.content)\n`,
  typescript: (base, body) => `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.KEY });\nconst answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)} as OpenAI.ChatCompletionCreateParamsNonStreaming);\nconsole.log(answer.choices[0].message.content);\n`,
};

// The gateway that serves this page, or one with its default settings.
export function ownBase({ origin, pathname }) {
  return pathname.startsWith("/playground/") ? `${origin}/v1` : "http://127.0.0.1:8000/v1";
}

// The address as URLs are written, which has no quotes, or null.
export function validBase(text) {
  if (!URL.canParse(text)) return null;
  const { protocol, href, search, hash, username } = new URL(text);
  if (!/^https?:$/.test(protocol) || search || hash || username) return null;
  return href.replaceAll("'", "%27").replace(/\/+$/, "");
}
