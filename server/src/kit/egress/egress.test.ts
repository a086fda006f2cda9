import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type AddressRefusedError, createEgress, type Egress, type EgressRequest } from './index.ts';

const OPEN = '127.0.0.2';
const CLOSED = '127.0.0.1';
const get: EgressRequest = { method: 'GET', path: '/', headers: [], body: null };

interface Place {
  readonly port: number;
  readonly connections: () => number;
  readonly arrivals: Server;
  close(): void;
}

async function listen(host: string, port: number, answer: RequestListener): Promise<Place> {
  const server = createServer(answer);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    arrivals: server,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Given {
  readonly allowedCidrs?: readonly string[];
  readonly lookup?: LookupFunction;
  readonly originsMax?: number;
  readonly connectionsPerOriginMax?: number;
}

async function through<T>(given: Given, use: (egress: Egress) => Promise<T>): Promise<T> {
  const egress = createEgress({
    allowedCidrs: [`${OPEN}/32`],
    connectTimeoutMs: 2_000,
    connectionsPerOriginMax: 4,
    originsMax: 10,
    ...given,
  });
  try {
    return await use(egress);
  } finally {
    await egress.close();
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
}

function send(egress: Egress, origin: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let answer: Answer | null = null;
    egress.dispatch(
      origin,
      get,
      {
        onRequestStart: () => undefined,
        onResponseStart(_controller, status, headers) {
          answer = { status, headers };
        },
        onResponseData: () => undefined,
        onResponseEnd: () => (answer === null ? reject(new Error('no head')) : resolve(answer)),
        onResponseError: (_controller, error) => reject(error),
      },
      'acme',
    );
  });
}

/** Answers the given address lists in turn, the last one for good, and counts how often it was asked. */
function resolver(...turns: (readonly string[])[]): { lookup: LookupFunction; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    lookup: (_hostname, options, callback) => {
      const addresses = turns[Math.min(asked, turns.length - 1)] ?? [];
      asked += 1;
      const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (options.all === true) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    },
  };
}

function refusedAddress(error: unknown): boolean {
  return (error as AddressRefusedError).code === 'ERR_ADDRESS_REFUSED';
}

describe('egress', () => {
  let sink: Place;
  let sinkV6: Place;
  let allowed: Place;
  before(async () => {
    sink = await listen(CLOSED, 0, (_request, response) => response.end('sink'));
    sinkV6 = await listen('::1', sink.port, (_request, response) => response.end('sink'));
    // Closing after each answer makes every request connect, and so resolve the name, again.
    allowed = await listen(OPEN, sink.port, (request, response) => {
      const location = request.headers.host ?? '';
      response.writeHead(307, { connection: 'close', location: `http://${location}/again` });
      response.end();
    });
  });
  after(() => {
    sink.close();
    sinkV6.close();
    allowed.close();
  });
  const sunk = () => sink.connections() + sinkV6.connections();

  it('dials no name that turned to a closed address since it was last looked up', async () => {
    const turning = resolver([OPEN], [CLOSED], [OPEN], ['::1']);
    const origin = `http://turning.test:${sink.port}`;
    await through({ lookup: turning.lookup }, async (egress) => {
      assert.equal(typeof egress.check(origin), 'object');
      assert.equal((await send(egress, origin)).status, 307);
      await assert.rejects(send(egress, origin), refusedAddress);
      assert.equal((await send(egress, origin)).status, 307);
      await assert.rejects(send(egress, origin), refusedAddress);
    });
    assert.equal(sunk(), 0);
  });

  it('dials the addresses it has judged and does not ask for them a second time', async () => {
    const turning = resolver([OPEN], [CLOSED]);
    await through({ lookup: turning.lookup }, (egress) => send(egress, `http://turning.test:${sink.port}`));
    assert.equal(turning.asked(), 1);
    assert.equal(sunk(), 0);
  });

  const closedAnswers: [string, string[]][] = [
    ['loopback', ['127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['this host', ['0.0.0.0']],
    ['the unspecified address', ['::']],
    ['cloud metadata', ['169.254.169.254']],
    ['an allowed address, then loopback', [OPEN, CLOSED]],
    ['loopback, then an allowed address', [CLOSED, OPEN]],
    ['no address', []],
  ];
  for (const [what, addresses] of closedAnswers) {
    it(`dials no name that resolves to ${what}`, async () => {
      const { lookup } = resolver(addresses);
      await through({ lookup }, async (egress) => {
        await assert.rejects(send(egress, `http://named.test:${sink.port}`), refusedAddress);
        await assert.rejects(send(egress, `https://named.test:${sink.port}`), refusedAddress);
      });
      assert.equal(sunk(), 0);
    });
  }

  for (const host of [
    '127.0.0.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    '[::]',
    '2130706433',
    'localhost',
  ]) {
    it(`does not dial ${host}, even if an earlier check let it through`, async () => {
      await through({}, async (egress) => {
        await assert.rejects(send(egress, `http://${host}:${sink.port}`), refusedAddress);
        await assert.rejects(send(egress, `https://${host}:${sink.port}`), refusedAddress);
      });
      assert.equal(sunk(), 0);
    });
  }

  it('hands a redirect back as the answer, even to an address it may dial', async () => {
    const dialled = allowed.connections();
    await through({}, async (egress) => {
      const { status, headers } = await send(egress, `http://${OPEN}:${allowed.port}`);
      assert.equal(status, 307);
      assert.equal(headers['location'], `http://${OPEN}:${allowed.port}/again`);
    });
    assert.equal(allowed.connections(), dialled + 1);
  });

  it('tells a name that does not resolve from one that may not be dialled', async () => {
    const lookup: LookupFunction = (_hostname, _options, callback) =>
      callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), '');
    await through({ lookup }, (egress) =>
      assert.rejects(send(egress, 'http://nowhere.test'), { code: 'ENOTFOUND' }),
    );
  });

  it('serves one more origin than it keeps pools for while all the others are busy', async () => {
    const waiting: (() => void)[] = [];
    const slow = await listen(OPEN, 0, (_request, response) => void waiting.push(() => response.end()));
    const quick = await listen(OPEN, 0, (_request, response) => response.end());
    const served = through({ originsMax: 1, connectionsPerOriginMax: 1 }, async (egress) => {
      const first = send(egress, `http://${OPEN}:${slow.port}`);
      assert.equal((await send(egress, `http://${OPEN}:${quick.port}`)).status, 200);
      assert.equal((await send(egress, `http://${OPEN}:${quick.port}`)).status, 200);
      for (const finish of waiting) finish();
      assert.equal((await first).status, 200);
      // The busy origin kept its pool, and so its connection.
      const again = send(egress, `http://${OPEN}:${slow.port}`);
      while (waiting.length < 2) await once(slow.arrivals, 'request');
      waiting[1]?.();
      assert.equal((await again).status, 200);
      assert.equal(slow.connections(), 1);
    });
    await served.finally(() => {
      slow.close();
      quick.close();
    });
  });

  it('dials loopback once it is listed, so that the silence above means something', async () => {
    await through({ allowedCidrs: ['127.0.0.0/8', '::1/128'] }, async (egress) => {
      assert.equal((await send(egress, `http://127.0.0.1:${sink.port}`)).status, 200);
      assert.equal((await send(egress, `http://[::1]:${sink.port}`)).status, 200);
      assert.equal((await send(egress, `http://localhost:${sink.port}`)).status, 200);
    });
    assert.equal(sunk(), 3);
  });
});
