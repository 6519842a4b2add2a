"""The official Python client: $MODE is "auto" or "legacy"."""

import asyncio
import os

import httpx2
from calls import TOKEN, URL, say, work
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main():
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
    async with Client(streamable_http_client(URL, http_client=http), mode=os.environ["MODE"]) as client:

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            return bool(result.is_error), result.structured_content

        results = await work(call)
        tools, resources = await client.list_tools(), await client.list_resources()
        prompts = await client.list_prompts()
        say(client.protocol_version, tools.tools, resources.resources, prompts.prompts, results)


asyncio.run(main())
