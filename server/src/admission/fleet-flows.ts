import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { createSharedReads } from '../store/shared-reads.ts';
import { type FlowsAsk, joinFlows, type LiveFlow } from './live-flows.ts';

const CHANNEL = 'relay:flows';
/** How long the answers of other processes are waited for; one that takes longer is there at the next question. */
const ANSWER_MS = 100;
/** An answer to a question that is older than this is not shown any more: its process is gone, or hangs. */
const SHOWN_MS = 3_000;
const KEPT_MS = 10_000;

interface Question {
  readonly organizationId: string;
  readonly userId?: string | undefined;
  /** The process that asks, and its own time: no two clocks are ever compared. */
  readonly readerId: string;
  readonly askedMs: number;
}

interface Report {
  readonly gatewayId: string;
  readonly askedMs: number;
  readonly flows: readonly LiveFlow[];
}

export interface FleetFlowsDeps {
  readonly redis: Redis;
  /** What this process has. */
  readonly own: (ask: FlowsAsk) => LiveFlow[];
  readonly gatewayId: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface FleetFlows {
  /** What the gateways of the deployment have now. Fails with `store_unavailable` while Redis is away. */
  read(ask: FlowsAsk): Promise<LiveFlow[]>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Every gateway knows what it has under way. Whoever wants to see the whole asks all of them at once and reads their
 * answers from a hash of its own: two commands for each look and two for each gateway, whatever the number of requests,
 * and nothing at all while nobody looks.
 */
export function createFleetFlows(deps: FleetFlowsDeps): FleetFlows {
  const { redis, clock, gatewayId } = deps;
  let unsubscribe: (() => Promise<void>) | null = null;

  async function answer(question: Question): Promise<void> {
    const { organizationId, userId, askedMs } = question;
    const flows = deps.own({ organizationId, userId });
    const key = keyOf(question);
    if (flows.length === 0) {
      await redis.run(['HDEL', key, gatewayId], key);
      return;
    }
    const report: Report = { gatewayId, askedMs, flows };
    await redis.run(['HSET', key, gatewayId, JSON.stringify(report)], key);
    await redis.run(['PEXPIRE', key, String(KEPT_MS)], key);
  }

  /** Many who look at the same share a question. */
  const ask = createSharedReads(async (text) => {
    const { organizationId, userId } = JSON.parse(text) as FlowsAsk;
    const askedMs = clock.monotonicMs();
    const question: Question = { organizationId, userId, readerId: gatewayId, askedMs };
    await redis.run(['PUBLISH', CHANNEL, JSON.stringify(question)]);
    await delay(ANSWER_MS);
    const key = keyOf(question);
    const reports = ((await redis.run(['HVALS', key], key)) as string[]).map(
      (value) => JSON.parse(value) as Report,
    );
    const isGone = (report: Report) => askedMs - report.askedMs > SHOWN_MS;
    const gone = reports.filter(isGone).map((report) => report.gatewayId);
    if (gone.length > 0) await redis.run(['HDEL', key, ...gone], key);
    return joinFlows(reports.filter((report) => !isGone(report)).flatMap(({ flows }) => flows));
  });

  return {
    read: ({ organizationId, userId }) => ask(JSON.stringify({ organizationId, userId })),
    async start() {
      unsubscribe = await redis.subscribe(CHANNEL, (message) => {
        answer(JSON.parse(message) as Question).catch((error: unknown) => {
          deps.log.warn({ err: error }, 'what is under way here could not be told to whoever asked');
        });
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}

/** In the slot of the organization; apart for each process that asks and for each user it asks about. */
function keyOf({ organizationId, userId = '', readerId }: Question): string {
  return `${prefixOf(organizationId)}${organizationId}:flows:${readerId}:${userId}`;
}
