// What every client of this folder does: the calls of $CALLS, `[["tool", {…}], …]`, in which "$0.thread_id" stands for
// what the first call gave there; then one JSON object for the test to judge.

export const door = new URL(process.env.CHORUS_URL);
export const headers = { Authorization: `Bearer ${process.env.CHORUS_TOKEN}` };

export async function work(client, version) {
  const results = [];
  for (const [name, asked] of JSON.parse(process.env.CALLS)) {
    const result = await client.callTool({ name, arguments: filled(asked, results) });
    results.push({ failed: result.isError === true, gave: result.structuredContent ?? null });
  }
  const { tools } = await client.listTools();
  const { resources } = await client.listResources();
  const { prompts } = await client.listPrompts();
  const names = (list) => list.map((entry) => entry.name);
  const said = { version, tools: names(tools), resources: resources.map((r) => r.uri), prompts: names(prompts), results };
  console.log(JSON.stringify(said));
}

function filled(value, results) {
  if (typeof value === 'string' && value.startsWith('$')) {
    const [call, ...path] = value.slice(1).split('.');
    return path.reduce((at, part) => at?.[part], results[Number(call)].gave);
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, results));
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, results)]));
  }
  return value;
}
