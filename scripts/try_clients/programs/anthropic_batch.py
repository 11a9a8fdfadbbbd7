"""The Anthropic SDK: a message batch and its results."""

import os

from anthropic import Anthropic

client = Anthropic(base_url=os.environ["BASE"], api_key=os.environ["KEY"])
messages = [{"role": "user", "content": os.environ["PROMPT"]}]
params = {"model": os.environ["MODEL"], "max_tokens": 100, "messages": messages}
batch = client.messages.batches.create(requests=[{"custom_id": str(each), "params": params} for each in range(3)])
while batch.processing_status != "ended":
    batch = client.messages.batches.retrieve(batch.id)
for line in client.messages.batches.results(batch.id):
    text = line.result.message.content[0].text
    print("TOOL", text.split()[1])
print(text)
