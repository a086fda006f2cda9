import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { operations } from './raw-client.fixture.ts';

describe('the simulator as a process, told over HTTP', () => {
  let child: ChildProcess;
  let url: string;
  before(async () => {
    const main = fileURLToPath(new URL('./main.ts', import.meta.url));
    child = spawn(process.execPath, [main, '--keys', 'a,b'], { stdio: ['ignore', 'pipe', 'inherit'] });
    assert.ok(child.stdout !== null);
    const [line] = await once(child.stdout, 'data');
    url = JSON.parse(String(line)).url;
  });
  after(() => child.kill('SIGKILL'));

  const control = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<[number, Record<string, unknown>]> => {
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/_sim/${path}`, { method, ...given });
    return [response.status, (await response.json()) as Record<string, unknown>];
  };
  const chat = (key: string): Promise<Response> =>
    fetch(`${url}${operations.chat.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(operations.chat.body),
    });

  it('listens on loopback, serves its keys, and can be scripted, read and reset', async () => {
    assert.equal(new URL(url).hostname, '127.0.0.1');
    assert.deepEqual(await control('POST', 'script', { match: { key: 'a' }, fault: { status: 503 } }), [
      200,
      { rules: 1 },
    ]);
    assert.deepEqual(
      [(await chat('a')).status, (await chat('b')).status, (await chat('c')).status],
      [503, 200, 401],
    );
    const [, log] = await control('GET', 'log?since=1');
    const entries = log['entries'] as { id: number; key: string; bodyBase64: string }[];
    assert.deepEqual(
      entries.map((entry) => entry.key),
      ['b', 'c'],
    );
    assert.equal(
      Buffer.from(entries[0]?.bodyBase64 ?? '', 'base64').toString(),
      JSON.stringify(operations.chat.body),
    );
    const [, counts] = await control('GET', 'counts');
    assert.equal(counts['requests'], 3);
    assert.equal(counts['openStreams'], 0);
    assert.equal((counts['byKey'] as Record<string, { completed: number }>)['b']?.completed, 1);
    const [, own] = await control('GET', 'counts?key=b');
    assert.equal(own['requests'], 1);
    await control('POST', 'reset');
    assert.equal((await control('GET', 'counts'))[1]['requests'], 0);
  });

  it('a log reader can wait for the next request', async () => {
    const [, before] = await control('GET', 'log');
    const last = (before['entries'] as { id: number }[]).at(-1)?.id ?? 3;
    const waiting = control('GET', `log?since=${last}&wait_ms=5000`);
    await chat('a');
    assert.equal(((await waiting)[1]['entries'] as unknown[]).length, 1);
  });

  it('refuses what it does not understand', async () => {
    assert.equal((await control('POST', 'script', { fault: { explode: 1 } }))[0], 400);
    assert.equal((await control('GET', 'nothing'))[0], 404);
    const broken = await fetch(`${url}/_sim/script`, { method: 'POST', body: '{' });
    assert.equal(broken.status, 400);
    await broken.body?.cancel();
  });

  it('exits cleanly on SIGTERM', async () => {
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
  });
});
