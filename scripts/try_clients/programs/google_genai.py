"""Google's SDK: generateContent, with a loop of tools. With TOKEN, at the gateway or Vertex AI."""

import os

from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

BASE, KEY, TOKEN = os.environ["BASE"], os.environ["KEY"], os.environ.get("TOKEN")
if TOKEN:
    options = types.HttpOptions(base_url=BASE, headers={"X-SVC-Key": KEY}) if BASE.startswith("http://") else None
    cloud = {"project": "made-up-project", "location": "us-central1", "credentials": Credentials(TOKEN)}
    client = genai.Client(vertexai=True, **cloud, http_options=options)
else:
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=BASE))
schema = types.Schema(type="OBJECT", properties={"value": types.Schema(type="STRING")})
tool = types.Tool(function_declarations=[types.FunctionDeclaration(name="save", parameters=schema)])
config = types.GenerateContentConfig(tools=[tool])
history = [types.Content(role="user", parts=[types.Part(text=os.environ["PROMPT"])])]
while True:
    asked = {"model": os.environ["MODEL"], "contents": history, "config": config}
    if os.environ["STREAM"] == "1":
        parts = [
            part
            for chunk in client.models.generate_content_stream(**asked)
            for part in (chunk.candidates[0].content.parts or [])
        ]
    else:
        parts = client.models.generate_content(**asked).candidates[0].content.parts
    history.append(types.Content(role="model", parts=parts))
    calls = [part.function_call for part in parts if part.function_call]
    if not calls:
        break
    for call in calls:
        print("TOOL", call.args["value"])
        result = types.Part.from_function_response(name="save", response={"result": f"saved {call.args['value']}"})
        history.append(types.Content(role="user", parts=[result]))
print("".join(part.text or "" for part in parts))
