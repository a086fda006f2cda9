import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from '@relay/testbed';
import { findBusyPorts } from './find-busy-ports.ts';

test('a port that something listens on is named with its option, and a free one is not', async () => {
  const [busy, free] = [await freePort(), await freePort()];
  const server = createServer().listen(busy, '127.0.0.1');
  await once(server, 'listening');
  const found = await findBusyPorts({ port: String(busy), 'sim-port': String(free) });
  server.close();
  assert.deepEqual(found, [`port ${busy} (--port=N)`]);
  assert.deepEqual(await findBusyPorts({ port: String(busy) }), []);
});
