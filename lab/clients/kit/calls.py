"""What every client of this folder does; see calls.mjs."""

import json
import os

URL = os.environ["CHORUS_URL"]
TOKEN = os.environ["CHORUS_TOKEN"]


def filled(value, results):
    if isinstance(value, str) and value.startswith("$"):
        call, *path = value[1:].split(".")
        at = results[int(call)]["gave"]
        for part in path:
            at = at[part]
        return at
    if isinstance(value, list):
        return [filled(each, results) for each in value]
    if isinstance(value, dict):
        return {key: filled(each, results) for key, each in value.items()}
    return value


async def work(call):
    results = []
    for name, asked in json.loads(os.environ["CALLS"]):
        failed, gave = await call(name, filled(asked, results))
        results.append({"failed": failed, "gave": gave})
    return results


def say(version, tools, resources, prompts, results):
    names = [tool.name for tool in tools], [str(r.uri) for r in resources], [prompt.name for prompt in prompts]
    keys = ("tools", "resources", "prompts")
    print(json.dumps({"version": version, "results": results, **dict(zip(keys, names))}))
