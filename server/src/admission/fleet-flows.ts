import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../kit/clock.ts';
import { parseObject } from '../kit/json-value.ts';
import type { Log } from '../kit/log.ts';
import type { SetAside } from '../kit/set-aside.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { createSharedReads } from '../store/shared-reads.ts';
import { type FlowsAsk, joinFlows, type LiveFlow } from './live-flows.ts';

const CHANNEL = 'relay:flows';
/** How long a reader waits for other processes; a later answer is shown at the next read. */
const ANSWER_MS = 100;
/** An older answer is dropped: its process has stopped or hangs. */
const SHOWN_MS = 3_000;
const KEPT_MS = 10_000;

interface Question {
  readonly organizationId: string;
  readonly userId?: string | undefined;
  /** The process that asks, and its own clock, so that two clocks are never compared. */
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
  /** The flows of this process. */
  readonly own: (ask: FlowsAsk) => LiveFlow[];
  readonly gatewayId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly aside: Pick<SetAside, 'note'>;
}

export interface FleetFlows {
  /** The flows of all gateways. Fails with `store_unavailable` while Redis is unavailable. */
  read(ask: FlowsAsk): Promise<LiveFlow[]>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Each gateway knows its own requests. A reader publishes a question and reads the answers of all gateways from a hash of
 * its own. That costs two commands per read and two per gateway, however many requests there are, and nothing without readers.
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

  /** Concurrent readers of the same flows share one question. */
  const ask = createSharedReads(async (text) => {
    const { organizationId, userId } = JSON.parse(text) as FlowsAsk;
    const askedMs = clock.monotonicMs();
    const question: Question = { organizationId, userId, readerId: gatewayId, askedMs };
    await redis.run(['PUBLISH', CHANNEL, JSON.stringify(question)]);
    await delay(ANSWER_MS);
    const key = keyOf(question);
    const values = await redis.run(['HVALS', key], key);
    const reports = (Array.isArray(values) ? values : []).flatMap((value) => reportOf(deps, String(value)));
    const isGone = (report: Report) => askedMs - report.askedMs > SHOWN_MS;
    const gone = reports.filter(isGone).map((report) => report.gatewayId);
    if (gone.length > 0) await redis.run(['HDEL', key, ...gone], key);
    return joinFlows(reports.filter((report) => !isGone(report)).flatMap(({ flows }) => flows));
  });

  return {
    read: ({ organizationId, userId }) => ask(JSON.stringify({ organizationId, userId })),
    async start() {
      unsubscribe = await redis.subscribe(CHANNEL, (message) => {
        const reply = async () => answer(JSON.parse(message) as Question);
        reply().catch((error: unknown) => {
          deps.log.warn({ err: error }, 'the flows of this process could not be reported');
        });
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}

/** None when it cannot be read: it is overwritten by the next answer of its process, or expires. */
function reportOf({ aside }: Pick<FleetFlowsDeps, 'aside'>, text: string): Report[] {
  const report = parseObject(text);
  const isReport =
    typeof report?.['gatewayId'] === 'string' &&
    typeof report['askedMs'] === 'number' &&
    Array.isArray(report['flows']);
  if (isReport) return [report as unknown as Report];
  aside.note('report', {}, 'live traffic of a process cannot be read and is not shown');
  return [];
}

/** In the slot of the organization; one key per reading process and user. */
function keyOf({ organizationId, userId = '', readerId }: Question): string {
  return `${prefixOf(organizationId)}${organizationId}:flows:${readerId}:${userId}`;
}
