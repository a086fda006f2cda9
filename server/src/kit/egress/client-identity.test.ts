import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { selfSigned } from '@relay/testbed';
import { systemClock } from '../clock.ts';
import { Secret } from '../secret.ts';
import { type ClientIdentity, createEgress, type Egress } from './egress.ts';
import { sendOnce } from './send-once.ts';

describe('a client certificate', () => {
  const authorities = getCACertificates('default');
  const own = selfSigned();
  const clients = [selfSigned('one'), selfSigned('other')] as const;
  let server: Server;
  let egress: Egress;
  let origin: string;
  let connections = 0;

  before(async () => {
    setDefaultCACertificates([...authorities, own.cert]);
    const ca = clients.map(({ cert }) => cert);
    server = createServer(
      { ...own, ca, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        response.end((request.socket as TLSSocket).getPeerCertificate().fingerprint256);
      },
    );
    server.on('secureConnection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = createEgress({
      allowedCidrs: ['127.0.0.0/8'],
      connectTimeoutMs: 5_000,
      connectionsPerOriginMax: 4,
      originsMax: 10,
    });
  });
  after(async () => {
    setDefaultCACertificates(authorities);
    await egress.close();
    server.close();
    server.closeAllConnections();
  });

  const identityOf = ({ cert, key }: { cert: string; key: string }): ClientIdentity => ({
    id: cert,
    certificates: cert,
    key: new Secret(key),
  });

  async function ask(identity: ClientIdentity | undefined) {
    const deadline = AbortSignal.timeout(5_000);
    const result = await sendOnce(
      { egress, clock: systemClock, responseBytesMax: 1_000, deadline },
      origin,
      { method: 'GET', path: '/', headers: [], body: null, ...(identity === undefined ? {} : { identity }) },
      'owner',
    );
    return result.kind === 'answered' ? result.body.toString() : result.kind;
  }

  it('is presented on the connections of its own requests alone', async () => {
    const [one, other] = clients.map(identityOf);
    const first = await ask(one);
    assert.match(first, /^([0-9A-F]{2}:){31}/);
    const second = await ask(other);
    assert.match(second, /^([0-9A-F]{2}:){31}/);
    assert.notEqual(second, first);
    assert.equal(await ask(one), first);
    assert.equal(connections, 2);
    assert.equal(await ask(undefined), 'failed');
    assert.equal(await ask(identityOf(selfSigned())), 'failed');
  });
});
