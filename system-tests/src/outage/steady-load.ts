import assert from 'node:assert/strict';
import { createRandom } from '../chaos/random.ts';
import { type Answer, ask, isStream, KINDS, someWords } from '../chaos/request.ts';
import type { Target } from '../chaos/world.ts';
import { afterMs } from '../harness/until.ts';

export interface Served {
  readonly tag: string;
  readonly answer: Answer;
  /** Since the load began. */
  readonly sentMs: number;
  readonly tookMs: number;
}

export interface SteadyLoad {
  readonly served: readonly Served[];
  /** Resolves when the last request is answered. */
  stop(): Promise<readonly Served[]>;
}

const CLIENTS = 10;
const PAUSE_MS_MAX = 60;

/** Asks every process for every target once, because a process serves without PostgreSQL what it has served before. */
export async function introduce(
  name: string,
  urls: readonly string[],
  targets: readonly Target[],
): Promise<void> {
  const random = createRandom(0);
  const asked = urls.flatMap((url) => targets.map((target) => ({ url, target })));
  const answers = asked.map(({ url, target }, index) =>
    ask(url, {
      tag: `${name}-first-${index}`,
      target,
      kind: 'chat',
      sim: { outputTokens: 8 },
      words: someWords(random),
      hangUpAfterMs: null,
    }),
  );
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
}

/** Clients that ask one thing after the other, spread over the processes, and wait for every answer. */
export function startSteadyLoad(
  name: string,
  urls: readonly string[],
  targets: readonly Target[],
): SteadyLoad {
  const served: Served[] = [];
  const startMs = performance.now();
  let running = true;
  let count = 0;

  async function client(index: number): Promise<void> {
    const random = createRandom(index);
    while (running) {
      count += 1;
      const tag = `${name}-${count}`;
      const kind = random.pick(KINDS);
      const sentMs = performance.now() - startMs;
      const said = isStream(kind) ? { frames: 8, frameDelayMs: 10 } : { outputTokens: 8, delayMs: 60 };
      const answer = await ask(random.pick(urls), {
        tag,
        target: random.pick(targets),
        kind,
        sim: said,
        words: someWords(random),
        hangUpAfterMs: null,
      });
      served.push({ tag, answer, sentMs, tookMs: performance.now() - startMs - sentMs });
      await afterMs(random.between(0, PAUSE_MS_MAX));
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index));
  return {
    served,
    async stop() {
      running = false;
      await Promise.all(clients);
      return served;
    },
  };
}

/** Answers that are not whole 200s, by what they were. */
export function failures(served: readonly Served[]): Record<string, number> {
  const wrong = served.filter(({ answer }) => answer.status !== 200 || !answer.whole);
  const groups = Map.groupBy(wrong, ({ answer }) => `${answer.status}${answer.whole ? '' : ' cut'}`);
  return Object.fromEntries([...groups].map(([kind, list]) => [kind, list.length]));
}
