import { say } from '../command-line.ts';
import {
  type Gateway,
  LANE,
  ROOT,
  startBareWithCalls,
  startEngine,
  startUpstream,
} from '../gateways/gateway.ts';
import { startRelay } from '../gateways/relay.ts';
import { packageEntry } from '../gateways/role.ts';
import type { Replay } from '../load/replay.ts';
import { replayRounds } from '../load/replay-rounds.ts';
import { runReplaysFirst } from '../load/run-replays-first.ts';
import { bigBody, smallBody, streamBody } from '../request-bodies.ts';
import type { IsEnough } from './figures.ts';

const FRAMES = 41;

/** What a replay found. */
export interface ReplayCost {
  readonly name: string;
  /** The product's CPU to the engine's. */
  readonly ratio: number;
  /** The engine's middle slice to its quicker ones. */
  readonly spread: number;
}

type Engine = 'bare' | 'reserialise' | 'bare+calls';
interface CostReplay extends Replay {
  /** The product is measured beside it; beside the last one under limits. */
  readonly engine: Engine;
}

/** A large body is compared with the engine that parses it: the bare one only copies it, which costs three times as much whenever the memory is new. */
const REPLAYS: Readonly<Record<string, CostReplay>> = {
  small: { body: smallBody(LANE), requests: 400, connections: 64, engine: 'bare' },
  body_256_kib: { body: bigBody(LANE), requests: 48, connections: 8, engine: 'reserialise' },
  stream_41_frames: { body: streamBody(LANE), requests: 64, connections: 64, engine: 'bare' },
  // Last, because the limits stay.
  six_limits: { body: smallBody(LANE), requests: 400, connections: 64, engine: 'bare+calls' },
};
const WARM_UPS = 3;
/** Fewer tell nothing. */
const ROUNDS_MIN = 3;
export const REPLAY_NAMES: readonly string[] = Object.keys(REPLAYS);

/**
 * Measures these replays: beside two processes of each engine, two of the product; those under limits last, beside two more on the same
 * stores, which then have six. In at most so many rounds, fewer where the first ones are enough.
 */
export async function measureReplays(
  names: readonly string[],
  { rounds, isEnough }: { rounds: number; isEnough: IsEnough },
): Promise<ReplayCost[]> {
  const running: { stop(): Promise<void> }[] = [];
  const pairs = new Map<Engine, readonly Gateway[]>();
  const pairOf = async (engine: Engine, start: () => Promise<Gateway>): Promise<readonly Gateway[]> => {
    const pair = pairs.get(engine) ?? [await start(), await start()];
    if (!pairs.has(engine)) running.push(...pair);
    pairs.set(engine, pair);
    return pair;
  };
  try {
    const upstream = await startUpstream(FRAMES);
    running.push(upstream);
    const relay = await startRelay(upstream.url, { entry: packageEntry(ROOT) });
    running.push(relay);
    const startOf: Readonly<Record<Engine, () => Promise<Gateway>>> = {
      bare: () => startEngine('bare', upstream.url, []),
      reserialise: () => startEngine('reserialise', upstream.url, []),
      'bare+calls': () => startBareWithCalls(upstream.url, []),
    };
    const plain = [relay, await relay.startCopy()];
    const limited = async () => {
      await relay.setLimits();
      return [await relay.startCopy(), await relay.startCopy()];
    };
    const costs: ReplayCost[] = [];
    for (const name of names) {
      const replay = REPLAYS[name];
      if (replay === undefined) throw new RangeError(`there is no replay ${name}`);
      const own = replay.engine === 'bare+calls' ? await limited() : plain;
      const engines = await pairOf(replay.engine, startOf[replay.engine]);
      await runReplaysFirst([...own, ...engines], upstream);
      costs.push(await measureReplay(name, replay, { own, engines, rounds, isEnough }));
    }
    return costs;
  } finally {
    await Promise.all(running.map((each) => each.stop()));
  }
}

interface Measurement {
  readonly own: readonly Gateway[];
  readonly engines: readonly Gateway[];
  readonly rounds: number;
  readonly isEnough: IsEnough;
}

async function measureReplay(
  name: string,
  replay: CostReplay,
  { own, engines, rounds, isEnough }: Measurement,
): Promise<ReplayCost> {
  say(`${name}: up to ${rounds} rounds of ${replay.requests} requests, beside ${replay.engine}`);
  const contestants = new Map([['engine', engines] as const, ['relay', own] as const]);
  const measured = await replayRounds<'engine' | 'relay'>(contestants, replay, {
    unit: 'requests',
    rounds,
    warmUps: WARM_UPS,
    isEnough: (soFar, count) => count >= ROUNDS_MIN && isEnough(name, soFar.ratio('relay', 'engine')),
  });
  return { name, ratio: measured.ratio('relay', 'engine'), spread: measured.spread('engine') };
}
