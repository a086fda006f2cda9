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

const FRAMES = 41;

/** What a replay found. */
export interface ReplayCost {
  readonly name: string;
  /** The product's CPU to the engine's. */
  readonly ratio: number;
  /** The engine's middle slice to its quicker ones. */
  readonly spread: number;
}

export interface Replays {
  measure(names: readonly string[], rounds: number): Promise<ReplayCost[]>;
  stop(): Promise<void>;
}

type Engine = 'bare' | 'reserialise' | 'bare+calls';
interface CostReplay extends Replay {
  /** The product is measured beside it; beside the last one under limits. */
  readonly engine: Engine;
}

/** A large body is compared with the engine that parses it: the bare one only copies it, which costs three times as much whenever the memory is new. */
const REPLAYS: Readonly<Record<string, CostReplay>> = {
  small: { body: smallBody(LANE), requests: 400, connections: 64, engine: 'bare' },
  six_limits: { body: smallBody(LANE), requests: 400, connections: 64, engine: 'bare+calls' },
  body_256_kib: { body: bigBody(LANE), requests: 48, connections: 8, engine: 'reserialise' },
  stream_41_frames: { body: streamBody(LANE), requests: 64, connections: 64, engine: 'bare' },
};
const WARM_UPS = 5;
export const REPLAY_NAMES: readonly string[] = Object.keys(REPLAYS);

/** Two processes of the product without limits and with six, and of each engine. */
export async function startReplays(): Promise<Replays> {
  const running: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  };
  const twice = async (start: () => Promise<Gateway>): Promise<readonly Gateway[]> => {
    const [first, second] = [await start(), await start()];
    running.push(first, second);
    return [first, second];
  };
  try {
    const upstream = await startUpstream(FRAMES);
    running.push(upstream);
    const relays = async (limited: boolean): Promise<readonly Gateway[]> => {
      const setup = { candidates: 1, limited };
      const first = await startRelay(upstream.url, { entry: packageEntry(ROOT), setup });
      running.push(first);
      return [first, await first.startCopy()];
    };
    const [plain, limited] = await Promise.all([relays(false), relays(true)]);
    const engines: Readonly<Record<Engine, readonly Gateway[]>> = {
      bare: await twice(() => startEngine('bare', upstream.url, [])),
      reserialise: await twice(() => startEngine('reserialise', upstream.url, [])),
      'bare+calls': await twice(() => startBareWithCalls(upstream.url, [])),
    };
    await runReplaysFirst([...plain, ...limited, ...Object.values(engines).flat()], upstream);
    const measure = async (name: string, rounds: number): Promise<ReplayCost> => {
      const replay = REPLAYS[name];
      if (replay === undefined) throw new RangeError(`there is no replay ${name}`);
      const relay = replay.engine === 'bare+calls' ? limited : plain;
      say(`${name}: ${rounds} rounds of ${replay.requests} requests, beside ${replay.engine}`);
      const contestants = new Map([['engine', engines[replay.engine]] as const, ['relay', relay] as const]);
      const settings = { unit: 'requests', rounds, warmUps: WARM_UPS } as const;
      const measured = await replayRounds<'engine' | 'relay'>(contestants, replay, settings);
      return { name, ratio: measured.ratio('relay', 'engine'), spread: measured.spread('engine') };
    };
    return {
      async measure(names, rounds) {
        const costs: ReplayCost[] = [];
        for (const name of names) costs.push(await measure(name, rounds));
        return costs;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
