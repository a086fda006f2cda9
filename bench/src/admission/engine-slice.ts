import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTraffic, type OrganizationTraffic } from '../limits/organization-traffic.ts';
import { fillWindows } from './fill-windows.ts';
import type { Side } from './side.ts';

/** What a request, admitted and settled, cost Redis. */
export interface EngineSlice {
  /** Of Redis's main thread. */
  readonly cpuUs: number;
  /** By which the append-only file grew. */
  readonly aofBytes: number;
  /** Script calls, by Redis's own counters. */
  readonly scriptCalls: number;
}

export interface Contestant {
  slice(requests: number): Promise<EngineSlice>;
  /** Requests settled so far, those that filled windows included. */
  settled(): number;
}

/** Operations that are issued in one turn of the event loop. */
const PER_TURN = 16;
const DRAIN_MS_MAX = 120_000;
const DRAIN_LOOK_MS = 20;

/**
 * Sends sixteen operations in every turn: all of one organization, which an engine may send as one batch, or each of another
 * organization in another shard, which are batches of one.
 */
export async function createContestant(side: Side, batch: 1 | 16): Promise<Contestant> {
  const organizations = inDifferentShards(side, PER_TURN / batch);
  const turn = organizations.flatMap((traffic) => Array.from({ length: batch }, () => traffic));
  const streams = organizations.map(({ organizationId }) => side.engine.usageStreamOf(organizationId));
  const { port } = side.engine;
  let filledAtMs = Number.NEGATIVE_INFINITY;
  let settled = 0;
  for (const { organizationId, openings } of organizations) await port.initialize(organizationId, openings);

  async function fill(): Promise<void> {
    for (const traffic of organizations)
      settled += await fillWindows(port, traffic, performance.now() - filledAtMs);
  }

  /** All asks in one turn, then all settlements in one. The next starts when they are over. */
  async function sendTurn(): Promise<void> {
    const sent = turn.map((traffic) => ({ traffic, id: randomUUIDv7() }));
    const answers = await Promise.all(sent.map(({ traffic, id }) => port.admit(traffic.ask(id))));
    for (const { kind } of answers)
      if (kind !== 'admitted') throw new Error(`a request was not admitted: ${kind}`);
    const ends = await Promise.all(sent.map(({ traffic, id }) => port.settle(traffic.settlement(id))));
    for (const end of ends) if (end !== 'settled') throw new Error(`a request was not settled: ${end}`);
    settled += sent.length;
  }

  return {
    settled: () => settled,
    /** Includes everything that the requests cause in Redis until the worker has taken their records. */
    async slice(requests) {
      await fill();
      await sendTurn();
      await untilDrained(side, streams);
      const before = await side.counters.read();
      const startedAt = settled;
      while (settled - startedAt < requests) await sendTurn();
      filledAtMs = performance.now();
      await untilDrained(side, streams);
      const after = await side.counters.read();
      const sent = settled - startedAt;
      return {
        cpuUs: ((after.mainThreadCpuMs - before.mainThreadCpuMs) * 1_000) / sent,
        aofBytes: (after.aofBytes - before.aofBytes) / sent,
        scriptCalls: (after.scripts.calls - before.scripts.calls) / sent,
      };
    },
  };
}

function inDifferentShards({ engine }: Side, count: number): OrganizationTraffic[] {
  const byStream = new Map<string, OrganizationTraffic>();
  while (byStream.size < count) {
    const traffic = createTraffic(Date.now());
    byStream.set(engine.usageStreamOf(traffic.organizationId), traffic);
  }
  return [...byStream.values()];
}

async function untilDrained({ counters }: Side, streams: readonly string[]): Promise<void> {
  const endMs = performance.now() + DRAIN_MS_MAX;
  for (const stream of streams) {
    while ((await counters.streamLength(stream)) > 0) {
      if (performance.now() > endMs) throw new Error('the worker does not read the records');
      await sleep(DRAIN_LOOK_MS);
    }
  }
}
