import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as afterMs } from 'node:timers/promises';
import { createApi } from '../api/client.ts';
import { processSurroundings } from '../kit/surroundings.ts';
import { checkStreaming, judgeArrivals } from './check-streaming.ts';

const FRAMES = 6;

/** What `relay doctor --stream` finds behind a server that writes its frames like this. */
async function findingOf(write: (response: ServerResponse, frame: string) => void) {
  async function respond(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let frame = 0; frame < FRAMES; frame += 1) {
      write(response, `data: {"number":${frame}}\n\n`);
      await afterMs(60);
    }
    response.end();
  }
  const server = createServer((_request, response) => void respond(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = {
    server: `http://127.0.0.1:${port}`,
    tokens: { management: null, inference: 'token' },
    contextName: null,
  };
  const surroundings = processSurroundings();
  const api = createApi(surroundings, connection as Parameters<typeof createApi>[1]);
  try {
    return (await checkStreaming('fast')({ api, surroundings }))[0];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('relay doctor --stream', () => {
  it('frames that arrive apart are fine', async () => {
    const finding = await findingOf((response, frame) => response.write(frame));
    assert.equal(finding?.status, 'ok', finding?.message);
  });

  it('frames that were held back and arrive together are a failure, with what to change', async () => {
    let held = '';
    const finding = await findingOf((response, frame) => {
      held += frame;
      if (held.split('\n\n').length > FRAMES) response.write(held);
    });
    assert.equal(finding?.status, 'fail', finding?.message);
    assert.match(finding?.message ?? '', /all 6 frames arrived together/);
    assert.match(finding?.fix ?? '', /proxy_buffering off/);
  });

  it('a response that is over immediately says nothing', () => {
    assert.equal(judgeArrivals({ atMs: [40, 41], frames: 20 }, 'http://relay').status, 'note');
    assert.equal(judgeArrivals({ atMs: [], frames: 0 }, 'http://relay').status, 'note');
  });
});
