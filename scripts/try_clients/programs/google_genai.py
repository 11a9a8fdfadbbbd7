"""Google's SDK: generateContent, with a loop of tools."""

import os

from google import genai
from google.genai import types

client = genai.Client(api_key=os.environ["KEY"], http_options=types.HttpOptions(base_url=os.environ["BASE"]))
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
