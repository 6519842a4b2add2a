// The TypeScript SDK's second generation, on the stateless wire.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { door, headers, work } from './calls.mjs';

const client = new Client({ name: 'stateless', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
const transport = new StreamableHTTPClientTransport(door, { requestInit: { headers } });
await client.connect(transport);
await work(client, client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion);
await client.close();
