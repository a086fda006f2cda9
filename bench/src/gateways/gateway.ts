import { join } from 'node:path';
import { freePort, startRedis } from '@relay/testbed';
import { STREAM_FRAMES } from '../canned-answers.ts';
import { type PinnedProcess, startPinned } from '../pinned-process.ts';

/** A gateway under measurement. Each has the gateways' core to itself while it is under load. */
export interface Gateway {
  readonly port: number;
  readonly pid: number;
  /** Headers every request to it carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** The Redis that it alone uses, if it uses one. */
  readonly redisUrl?: string;
  stop(): Promise<void>;
}

export const ENGINES = ['bare', 'reserialise'] as const;
export type EngineName = (typeof ENGINES)[number];

export const ROOT = join(import.meta.dirname, '../../..');

/** Names of the model on either side: what clients ask for, and what the upstream is asked for. */
export const LANE = 'fast';
/** Leads to an endpoint that speaks Messages. */
export const MESSAGES_LANE = 'fast-messages';
export const UPSTREAM_MODEL = 'upstream-model';

export async function startEngine(
  name: EngineName,
  upstreamUrl: string,
  nodeFlags: readonly string[],
  options: readonly string[] = [],
): Promise<Gateway> {
  const port = await freePort();
  const file = join(ROOT, `bench/src/engines/${name}.ts`);
  const process = await startPinned({
    name,
    core: 'gateway',
    port,
    args: [
      ...nodeFlags,
      file,
      '--port',
      String(port),
      '--upstream',
      upstreamUrl,
      '--model',
      UPSTREAM_MODEL,
      ...options,
    ],
  });
  return { ...process, headers: { authorization: 'Bearer sk-upstream' } };
}

/** The bare engine with the two script calls of a request under limits, one after the other, on a Redis of its own. */
export async function startBareWithCalls(
  upstreamUrl: string,
  nodeFlags: readonly string[],
): Promise<Gateway> {
  const redis = await startRedis({ appendonly: true });
  try {
    const engine = await startEngine('bare', upstreamUrl, nodeFlags, ['--redis', redis.url]);
    return {
      ...engine,
      redisUrl: redis.url,
      async stop() {
        await engine.stop();
        await redis.remove();
      },
    };
  } catch (error) {
    await redis.remove();
    throw error;
  }
}

/** `frames`: of a stream. */
export async function startUpstream(frames = STREAM_FRAMES): Promise<PinnedProcess & { url: string }> {
  const port = await freePort();
  const file = join(ROOT, 'bench/src/upstream.ts');
  const started = await startPinned({
    name: 'the upstream',
    core: 'load',
    port,
    args: [file, '--port', String(port), '--frames', String(frames)],
  });
  return { ...started, url: `http://127.0.0.1:${port}/v1` };
}

/** One gateway for each name, one after the other. Each is among the started as soon as it runs, so that a failure leaves none behind. */
export async function startEach<Name extends string>(
  names: readonly Name[],
  started: { stop(): Promise<void> }[],
  start: (name: Name) => Promise<Gateway>,
): Promise<Readonly<Record<Name, Gateway>>> {
  const gateways: Partial<Record<Name, Gateway>> = {};
  for (const name of names) {
    const gateway = await start(name);
    started.push(gateway);
    gateways[name] = gateway;
  }
  return gateways as Record<Name, Gateway>;
}
