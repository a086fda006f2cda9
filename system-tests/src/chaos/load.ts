import type { Fault } from '@relay/provider-sim';
import { afterMs } from '../harness/until.ts';
import type { Member } from './fleet.ts';
import { createRandom, type Random } from './random.ts';
import { type Answer, type Asking, ask, isStream, KINDS, STREAM_KINDS, someWords } from './request.ts';
import { BILLED_FAILURE, type Target, type World } from './world.ts';

type LoadedWorld = Pick<World, 'limited' | 'minutely' | 'unlimited' | 'falling'>;

/** `steady`: a bit of everything. `crowds`: many together, so that they wait. `streams`: long ones. */
export const loadNames = ['steady', 'crowds', 'streams'] as const;
export type LoadName = (typeof loadNames)[number];

export interface Sent {
  readonly tag: string;
  readonly model: string;
  readonly gateway: string;
  readonly kind: string;
  readonly answer: Answer;
}

export interface Load {
  /** Sends one request for a kill at a chosen moment. It counts like the others. */
  send(
    gateway: { name: string; url: string },
    asking: Omit<Asking, 'tag'>,
  ): { tag: string; over: Promise<void> };
  sent(): readonly Sent[];
  /** Starts no more requests. Resolves when all in flight have ended. */
  stop(): Promise<void>;
}

const CLIENTS = 20;
const PAUSE_MS_MAX = 60;
/** Clients of a crowd come together, and then none for a while. */
const CROWD_MS = 1_500;
/** Pause while all gateways are dead. */
const DEAD_MS = 50;

/** Clients that send one request after the other, each to a random gateway, and sometimes disconnect. */
export function startLoad(
  fleet: { readonly gateways: readonly Member[] },
  world: LoadedWorld,
  seed: number,
  name: LoadName = 'steady',
): Load {
  const sent: Sent[] = [];
  const underWay = new Set<Promise<void>>();
  let running = true;
  let count = 0;

  function send(gateway: { name: string; url: string }, asking: Omit<Asking, 'tag'>) {
    count += 1;
    const tag = `chaos-${count}`;
    const { model } = asking.target;
    const over = ask(gateway.url, { ...asking, tag }).then((answer) => {
      sent.push({ tag, model, gateway: gateway.name, kind: asking.kind, answer });
      underWay.delete(over);
    });
    underWay.add(over);
    return { tag, over };
  }

  async function client(random: Random): Promise<void> {
    while (running) {
      const alive = fleet.gateways.filter(({ process }) => process !== null);
      const [gateway] = random.shuffled(alive);
      if (gateway?.process == null) {
        await afterMs(DEAD_MS);
        continue;
      }
      const { over } = send(
        { name: gateway.name, url: gateway.process.url },
        somethingToAsk(name, world, random),
      );
      await over;
      await afterMs(
        name === 'crowds' ? CROWD_MS - (performance.now() % CROWD_MS) : random.between(0, PAUSE_MS_MAX),
      );
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, index) => client(createRandom(seed * 1_000 + index)));
  return {
    send,
    sent: () => sent,
    async stop() {
      running = false;
      await Promise.all(clients);
      await Promise.all(underWay);
    },
  };
}

function somethingToAsk(name: LoadName, world: LoadedWorld, random: Random): Omit<Asking, 'tag'> {
  const kind = name === 'streams' ? random.pick(STREAM_KINDS) : random.pick(KINDS);
  const said = isStream(kind)
    ? { frames: random.between(3, name === 'streams' ? 90 : 30), frameDelayMs: random.between(2, 25) }
    : { outputTokens: random.between(1, 40) };
  return {
    target: targetFor(name, world, random),
    kind,
    words: someWords(random),
    sim: {
      ...said,
      delayMs: random.between(0, 200),
      ...somethingOdd(random),
    },
    hangUpAfterMs: random.chance(0.1) ? random.between(5, 500) : null,
  };
}

/** Some answers report no usage, which makes them estimates. Rejected requests count, and failures may bill. */
function somethingOdd(random: Random): Fault {
  const odd = random.next();
  if (odd < 0.03) return { noUsage: true };
  if (odd < 0.09) return { status: 400 };
  return odd < 0.11 ? { status: 500, body: BILLED_FAILURE } : {};
}

/** Shares of the limited lanes, and of the one without limits; the rest falls back. */
const SHARES: Readonly<Record<LoadName, { limited: number; minutely: number; unlimited: number }>> = {
  steady: { limited: 0.35, minutely: 0.1, unlimited: 0.35 },
  crowds: { limited: 0.7, minutely: 0.1, unlimited: 0.1 },
  streams: { limited: 0.25, minutely: 0.1, unlimited: 0.4 },
};

function targetFor(name: LoadName, world: LoadedWorld, random: Random): Target {
  const { limited, minutely, unlimited } = SHARES[name];
  const where = random.next();
  if (where < limited) return world.limited;
  if (where < limited + minutely) return world.minutely;
  return random.pick(where < limited + minutely + unlimited ? world.unlimited : world.falling);
}
