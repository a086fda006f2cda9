import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Fault } from './fault.ts';
import { startProviderSim } from './provider-sim.ts';
import { operations, sendFault } from './raw-client.fixture.ts';
import type { ProviderSim } from './simulator.ts';

/** How a connection went away, as seen below HTTP: an orderly end or a reset. */
function lossOf(sim: ProviderSim, fault: Fault): Promise<string> {
  const body = JSON.stringify({ ...operations.chat.body, stream: true, sim: fault });
  const head = `POST ${operations.chat.path} HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer test-key\r\n`;
  return new Promise((resolve) => {
    const socket = connect(sim.port, '127.0.0.1');
    socket.on('end', () => resolve('ended'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    socket.resume();
    socket.write(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
}

describe('how connections are lost', () => {
  let sim: ProviderSim;
  before(async () => {
    sim = await startProviderSim();
  });
  after(() => sim.close());

  const rows: [Fault, string][] = [
    [{ refuseConnection: true }, 'ended'],
    [{ cutBeforeHeaders: true }, 'ended'],
    [{ cutAfterFrames: 2 }, 'ended'],
    [{ resetOnAccept: true }, 'ECONNRESET'],
    [{ cutBeforeHeaders: true, resetOnCut: true }, 'ECONNRESET'],
    [{ cutAfterFrames: 2, resetOnCut: true }, 'ECONNRESET'],
    [{ cutAfterBytes: 50, resetOnCut: true }, 'ECONNRESET'],
  ];
  for (const [fault, expected] of rows) {
    it(`${JSON.stringify(fault)} is seen as ${expected}`, async () => {
      assert.equal(await lossOf(sim, fault), expected);
    });
  }

  it('a client that leaves during a long pause leaves no timer behind', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    for (const fault of [
      { delayMs: 3_600_000 },
      { frames: 9, frameDelayMs: 3_600_000 },
      { dripMs: 3_600_000 },
    ]) {
      const since = sim.log.at(-1)?.id ?? 0;
      const abortAfter = sim.waitFor((entry) => entry.id > since && entry.fault !== null);
      await sendFault(sim, 'chat', fault, { stream: true }, { abortAfter });
      await sim.waitFor((entry) => entry.id > since && entry.outcome === 'aborted_by_client');
    }
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(timers() <= before, `${timers()} timers instead of ${before}`);
  });
});
