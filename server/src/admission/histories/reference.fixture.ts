import { createMemoryEngine } from '../memory/engine.ts';
import { listening, type Pair, type Told } from './history.fixture.ts';

export type CreateReference = typeof createMemoryEngine;

/** The reference under a test clock, with what it sends to the usage stream. */
export function startReference(
  nowMs: () => number,
  create: CreateReference = createMemoryEngine,
): { told: Told<ReturnType<CreateReference>>; appended: string[] } {
  const appended: string[] = [];
  const { line, ...told } = listening(nowMs);
  const engine = create({
    clock: { nowMs },
    append: ({ record }) => appended.push(`r,${record}`),
    appendExpired: (draft, candidate) => appended.push(`x,${draft},c,${candidate}`),
    line,
  });
  // It tells in a microtask after the call.
  return { told: { ...told, engine, settled: () => Promise.resolve() }, appended };
}

/** The reference alone, judged by the oracle. */
export function alone(create?: CreateReference): Pair {
  let nowMs = 0;
  return {
    reference: startReference(() => nowMs, create).told,
    subject: null,
    setNow: (value) => {
      nowMs = value;
    },
    leftovers: async () => [],
  };
}
