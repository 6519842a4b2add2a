// A real OpenID provider on loopback, for the test of foreign issuers: `node provider.mjs PORT` makes new keys at every
// start, prints its address, gives the client `bot` a JWT for its credentials, and signs anybody in under any name for the
// client `page`, which is sent back to any host's `/signin/back`.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const server = createServer();
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [{
      client_id: 'bot', client_secret: 'of-the-test', grant_types: ['client_credentials'],
      redirect_uris: [], response_types: [],
    }, {
      client_id: 'page', client_secret: 'of the page & more', redirect_uris: ['http://127.0.0.1/signin/back'],
    }],
    pkce: { required: () => true },
    cookies: { keys: ['of-the-test'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (context) => {
      const role = context.oidc.body?.role;
      return role ? { role } : undefined;
    },
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:chorus',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '', audience: 'chorus', accessTokenFormat: 'jwt', accessTokenTTL: 3600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  provider.Client.prototype.redirectUriAllowed = (uri) => uri.endsWith('/signin/back');
  server.on('request', provider.callback());
  console.log(issuer);
});
