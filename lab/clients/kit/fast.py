"""The client of fastmcp."""

import asyncio

from calls import TOKEN, URL, say, work
from fastmcp import Client


async def main():
    async with Client(URL, auth=TOKEN) as client:

        async def call(name, arguments):
            result = await client.call_tool_mcp(name, arguments)
            return bool(result.is_error), result.structured_content

        results = await work(call)
        tools, resources = await client.list_tools(), await client.list_resources()
        say(None, tools, resources, await client.list_prompts(), results)


asyncio.run(main())
