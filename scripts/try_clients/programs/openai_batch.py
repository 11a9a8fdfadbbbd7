"""The OpenAI SDK: a file of requests, a batch of it, and the file of its results."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"])
body = {"model": os.environ["MODEL"], "messages": [{"role": "user", "content": os.environ["PROMPT"]}]}
endpoint = "/v1/chat/completions"
lines = [{"custom_id": str(number), "method": "POST", "url": endpoint, "body": body} for number in range(3)]
file = client.files.create(
    file=("requests.jsonl", "\n".join(map(json.dumps, lines)).encode()),
    purpose="batch",
)
batch = client.batches.create(input_file_id=file.id, endpoint=endpoint, completion_window="24h")
while batch.status != "completed":
    batch = client.batches.retrieve(batch.id)
for line in client.files.content(batch.output_file_id).text.splitlines():
    text = json.loads(line)["response"]["body"]["choices"][0]["message"]["content"]
    print("TOOL", text.split()[1])
print(text)
