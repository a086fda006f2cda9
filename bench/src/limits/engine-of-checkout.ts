import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { loadModule } from '../checkouts/load-module.ts';

/** The limits engine of one checkout, loaded from its own files, over its own client. */
export interface CheckoutEngine {
  readonly port: EnginePort;
  /** The stream where the worker finds the settled requests of an organization. */
  usageStreamOf(organizationId: string): string;
  close(): Promise<void>;
}

/** What the bench uses of the port in `server/src/admission/engine.ts`. */
export interface EnginePort {
  admit(ask: EngineAsk): Promise<{ readonly kind: string }>;
  settle(ask: EngineSettlement): Promise<string>;
  restore(ask: EngineAsk, candidate: number, agoMs: number): Promise<boolean>;
  initialize(organizationId: string, openings: readonly EngineOpening[]): Promise<void>;
}

export interface EngineAsk {
  readonly organizationId: string;
  readonly operationId: string;
  readonly queue: string;
  readonly waitersMax: number;
  /** These four are read by editions that have a line; those before ignore them. */
  readonly caller: string;
  readonly priority: 'standard';
  readonly mixedClasses: boolean;
  readonly configVersion: number;
  readonly candidates: readonly {
    readonly endpointId: string;
    readonly paced: boolean;
    readonly charges: readonly { readonly policy: EngineLimit; readonly cost: number }[];
  }[];
  readonly selection: 'preferred';
  readonly waitMsMax: number;
  readonly leaseMs: number;
  readonly draft: string;
}

export interface EngineLimit {
  readonly id: string;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit: number;
}

export interface EngineSettlement {
  readonly organizationId: string;
  readonly operationId: string;
  readonly actual: { readonly dispatched: boolean; readonly tokens: number; readonly spendMicros: number };
  readonly record: string;
}

export interface EngineOpening {
  readonly policy: EngineLimit;
  readonly startMs: number;
  readonly amount: number;
}

/** The product's own deadline would end the run on a machine that pauses. */
const COMMAND_TIMEOUT_MS = 20_000;
const READY_MS_MAX = 10_000;

/** The client of a checkout. Its engine uses more of it in some editions than in others. */
interface CheckoutRedis {
  run(command: readonly string[], routingKey?: string): Promise<unknown>;
  whenReady(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}
interface ShardsModule {
  prefixOf(organizationId: string): string;
  usageStreamOf(prefix: string): string;
}
/** No request of the bench waits, so there is nothing to tell. */
const SILENT_LINE = { released: () => undefined, next: () => undefined, missed: () => undefined };

/** `onCommand` gets every command that the engine sends. */
export async function openEngine(
  root: string,
  redisUrl: string,
  onCommand: (command: readonly string[]) => void = () => undefined,
): Promise<CheckoutEngine> {
  const shards = await loadModule<ShardsModule>(root, 'store/redis/shards.ts', 'store/shards.ts');
  const redis = await openRedis(root, redisUrl);
  const run: CheckoutRedis['run'] = (command, routingKey) => {
    onCommand(command);
    return redis.run(command, routingKey);
  };
  return {
    port: await engineOver(root, { ...redis, run }),
    usageStreamOf: (organizationId) => shards.usageStreamOf(shards.prefixOf(organizationId)),
    close: () => redis.close(),
  };
}

async function openRedis(root: string, url: string): Promise<CheckoutRedis> {
  const { createRedis } = await loadModule<{ createRedis(options: object): CheckoutRedis }>(
    root,
    'store/redis/redis.ts',
    'store/redis.ts',
  );
  const { systemClock } = await loadModule<{ systemClock: object }>(root, 'kit/clock.ts');
  const { createLog } = await loadModule<{ createLog(level: string): object }>(root, 'kit/log.ts');
  const log = createLog('error');
  const redis = createRedis({ url, clock: systemClock, log, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  await redis.whenReady(READY_MS_MAX);
  return redis;
}

async function engineOver(root: string, redis: CheckoutRedis): Promise<EnginePort> {
  const { createScripts } = await loadModule<{ createScripts(redis: CheckoutRedis): object }>(
    root,
    'admission/redis/scripts.ts',
  );
  const { createRedisEngine } = await loadModule<{ createRedisEngine(deps: object): EnginePort }>(
    root,
    'admission/redis/engine.ts',
  );
  const gatewayId = `bench-${process.pid}`;
  return createRedisEngine({ scripts: createScripts(redis), gatewayId, line: SILENT_LINE });
}
