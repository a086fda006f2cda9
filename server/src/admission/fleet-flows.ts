import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../kit/clock.ts';
import { parseObject } from '../kit/json-value.ts';
import type { Log } from '../kit/log.ts';
import type { SetAside } from '../kit/set-aside.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { createSharedReads } from '../store/shared-reads.ts';
import { type FlowsAsk, joinFlows, type LiveFlow } from './live-flows.ts';
import { joinLanes, type LiveLane, type LiveTraffic } from './live-lanes.ts';

const CHANNEL = 'relay:flows';
/** How long a reader waits for other processes; a later answer is shown at the next read. */
const ANSWER_MS = 100;
/** An older answer is dropped: its process has stopped or hangs. */
const SHOWN_MS = 3_000;
const KEPT_MS = 10_000;

interface Question extends Pick<FlowsAsk, 'organizationId' | 'keyId'> {
  readonly userId?: string | undefined;
  /** The process that asks, and its own clock, so that two clocks are never compared. */
  readonly readerId: string;
  readonly askedMs: number;
}

interface Report {
  readonly gatewayId: string;
  readonly askedMs: number;
  readonly flows: readonly LiveFlow[];
  readonly lanes: readonly LiveLane[];
}

export interface FleetFlowsDeps {
  readonly redis: Redis;
  /** The traffic of this process. */
  readonly own: (ask: FlowsAsk) => Promise<LiveTraffic>;
  readonly gatewayId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly aside: Pick<SetAside, 'note'>;
}

export interface FleetFlows {
  /** The traffic of all gateways. Fails with `store_unavailable` while Redis is unavailable. */
  read(ask: FlowsAsk): Promise<LiveTraffic>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Each gateway knows its own requests. A reader publishes a question and reads the answers of all gateways from a hash of
 * its own. That costs two commands per read and two per gateway, however many requests there are, and nothing without readers. A gateway
 * whose requests wait also asks the engine when they can go, for a bounded number of them.
 */
export function createFleetFlows(deps: FleetFlowsDeps): FleetFlows {
  const { redis, clock, gatewayId } = deps;
  let unsubscribe: (() => Promise<void>) | null = null;

  async function answer(question: Question): Promise<void> {
    const { organizationId, userId, keyId, askedMs } = question;
    const { flows, lanes } = await deps.own({ organizationId, userId, keyId });
    const key = keyOf(question);
    if (flows.length === 0 && lanes.length === 0) {
      await redis.run(['HDEL', key, gatewayId], key);
      return;
    }
    const report: Report = { gatewayId, askedMs, flows, lanes };
    await redis.run(['HSET', key, gatewayId, JSON.stringify(report)], key);
    await redis.run(['PEXPIRE', key, String(KEPT_MS)], key);
  }

  /** Concurrent readers of the same flows share one question. */
  const ask = createSharedReads(async (text) => {
    const { organizationId, userId, keyId } = JSON.parse(text) as FlowsAsk;
    const askedMs = clock.monotonicMs();
    const question: Question = { organizationId, userId, keyId, readerId: gatewayId, askedMs };
    await redis.run(['PUBLISH', CHANNEL, JSON.stringify(question)]);
    await delay(ANSWER_MS);
    const key = keyOf(question);
    const values = await redis.run(['HVALS', key], key);
    const reports = (Array.isArray(values) ? values : []).flatMap((value) => reportOf(deps, String(value)));
    const isGone = (report: Report) => askedMs - report.askedMs > SHOWN_MS;
    const gone = reports.filter(isGone).map((report) => report.gatewayId);
    if (gone.length > 0) await redis.run(['HDEL', key, ...gone], key);
    const shown = reports.filter((report) => !isGone(report));
    return {
      flows: joinFlows(shown.flatMap(({ flows }) => flows)),
      lanes: joinLanes(shown.flatMap(({ lanes }) => lanes)),
    };
  });

  return {
    read: ({ organizationId, userId, keyId }) => ask(JSON.stringify({ organizationId, userId, keyId })),
    async start() {
      unsubscribe = await redis.subscribe(CHANNEL, (message) => {
        const reply = async () => answer(JSON.parse(message) as Question);
        reply().catch((error: unknown) => {
          deps.log.warn({ err: error }, 'could not report the live traffic of this process');
        });
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}

const NOT_TOLD: Pick<LiveLane, 'limits' | 'rejections'> = { limits: [], rejections: 0 };

/** None when it cannot be read: it is overwritten by the next answer of its process, or expires. */
function reportOf({ aside }: Pick<FleetFlowsDeps, 'aside'>, text: string): Report[] {
  const report = parseObject(text);
  const isReport =
    typeof report?.['gatewayId'] === 'string' &&
    typeof report['askedMs'] === 'number' &&
    Array.isArray(report['flows']);
  if (isReport) {
    const { lanes = [], ...rest } = report as unknown as Partial<Report> & Omit<Report, 'lanes'>;
    // A gateway of an earlier version tells nothing about lanes, or less.
    return [{ ...rest, lanes: lanes.map((lane) => ({ ...NOT_TOLD, ...lane })) }];
  }
  aside.note('report', {}, 'ignored an unreadable report of live traffic');
  return [];
}

/** In the slot of the organization; one key per reading process, user and API key. */
function keyOf({ organizationId, userId = '', keyId, readerId }: Question): string {
  const ofKey = keyId === undefined ? '' : `:${keyId}`;
  return `${prefixOf(organizationId)}${organizationId}:flows:${readerId}:${userId}${ofKey}`;
}
