// The TypeScript SDK's first generation, on the wire with sessions.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { door, headers, work } from './calls.mjs';

const client = new Client({ name: 'session', version: '1.0.0' });
const transport = new StreamableHTTPClientTransport(door, { requestInit: { headers } });
await client.connect(transport);
await work(client, transport.protocolVersion);
await transport.terminateSession();
await client.close();
