import { afterMs } from '../harness/until.ts';
import type { Fleet } from './fleet.ts';
import { createRandom, type Random } from './random.ts';
import { type Answer, type Asking, ask, isStream, KINDS, someWords } from './request.ts';
import type { Target, World } from './world.ts';

type LoadedWorld = Pick<World, 'limited' | 'unlimited' | 'falling'>;

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
/** Pause while all gateways are dead. */
const DEAD_MS = 50;

/** Clients that send one request after the other, each to a random gateway, and sometimes disconnect. */
export function startLoad(fleet: Pick<Fleet, 'gateways'>, world: LoadedWorld, seed: number): Load {
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
      const { over } = send({ name: gateway.name, url: gateway.process.url }, somethingToAsk(world, random));
      await over;
      await afterMs(random.between(0, PAUSE_MS_MAX));
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

function somethingToAsk(world: LoadedWorld, random: Random): Omit<Asking, 'tag'> {
  const kind = random.pick(KINDS);
  const said = isStream(kind)
    ? { frames: random.between(3, 30), frameDelayMs: random.between(2, 25) }
    : { outputTokens: random.between(1, 40) };
  return {
    target: targetFor(world, random),
    kind,
    words: someWords(random),
    sim: {
      ...said,
      delayMs: random.between(0, 200),
      // Some providers report no usage; these rows are estimates.
      ...(random.chance(0.03) ? { noUsage: true } : {}),
    },
    hangUpAfterMs: random.chance(0.1) ? random.between(5, 500) : null,
  };
}

function targetFor(world: LoadedWorld, random: Random): Target {
  const where = random.next();
  if (where < 0.4) return world.limited;
  return random.pick(where < 0.8 ? world.unlimited : world.falling);
}
