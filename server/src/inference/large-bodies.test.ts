import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, startGateway } from './gateway.fixture.ts';
import type { BodyKind, Order, Word } from './large-bodies.fixture.ts';

const CLIENTS = 2;
/** Other requests wait that long. To parse 20 MB takes several times as long. */
const TURN_MS_MAX = 30;
/** Compilation and the garbage of earlier work only add to what a round takes. */
const ROUNDS = 4;

describe('while bodies of 20 MB are relayed', () => {
  let others: ChildProcess;
  let gateway: Gateway;

  before(async () => {
    others = fork(join(import.meta.dirname, 'large-bodies.fixture.ts'), { execArgv: [] });
    const [{ port }] = (await once(others, 'message')) as [{ port: number }];
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: `http://127.0.0.1:${port}/v1`, authMode: 'none' })],
        endpoints: [endpoint('e', 'p', 'm', { pacing: false })],
        lanes: [lane('chat', { defaultMaxWaitMs: 0 })],
        memberships: [member('chat', 'e', 0)],
      }),
    );
  });
  after(async () => {
    others.disconnect();
    await gateway.close();
  });

  /** The most CPU that this thread used between two turns of a timer, in one round. What other processes use does not count. */
  async function longestTurnMs(kind: BodyKind, chunked: boolean): Promise<number> {
    let longest = 0;
    let last = cpuMs();
    const timer = setInterval(() => {
      const now = cpuMs();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const order: Order = { url: gateway.url, kind, chunked, clients: CLIENTS };
    others.send(order);
    const [word] = (await once(others, 'message')) as [Extract<Word, { statuses: unknown }>];
    clearInterval(timer);
    assert.deepEqual(new Set(word.statuses), new Set([200]));
    return longest;
  }

  const cases: [string, BodyKind, boolean][] = [
    ['nested', 'nested', false],
    ['escaped, without a declared length', 'escaped', true],
  ];
  for (const [what, kind, chunked] of cases)
    it(`no turn of the event loop takes ${TURN_MS_MAX} ms: ${what}`, {
      timeout: 120_000,
    }, async (context) => {
      const tookMs: number[] = [];
      while (tookMs.length < ROUNDS && !tookMs.some((each) => each < TURN_MS_MAX))
        tookMs.push(await longestTurnMs(kind, chunked));
      const words = tookMs.map((each) => each.toFixed(1)).join(', ');
      context.diagnostic(`longest turns: ${words} ms of CPU`);
      assert.ok(Math.min(...tookMs) < TURN_MS_MAX, words);
    });
});

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
