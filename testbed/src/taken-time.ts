import { readdirSync, readFileSync } from 'node:fs';

/** What processes waited for a core between two moments: of each, its most delayed thread, as threads wait side by side. */
export interface Sample {
  readonly ms: number;
  readonly waitedMs: readonly number[];
}

/** What the scheduler took of some time from processes that work for each other, and the share that it took from the most delayed one. */
export interface Taken {
  readonly ofMs: number;
  readonly ms: number;
  readonly shareMost: number;
}

export function takenIn(samples: readonly Sample[]): Taken {
  const ofMs = samples.reduce((sum, { ms }) => sum + ms, 0);
  const shares = (samples[0]?.waitedMs ?? []).map((_, index) => {
    const waitedMs = samples.reduce((sum, sample) => sum + (sample.waitedMs[index] ?? 0), 0);
    return ofMs === 0 ? 0 : Math.min(1, waitedMs / ofMs);
  });
  // The time in which at least one of them waited, as none waits for the others' sake.
  const free = shares.reduce((part, share) => part * (1 - share), 1);
  return { ofMs, ms: ofMs * (1 - free), shareMost: Math.max(0, ...shares) };
}

/** In that span, of all that a duration of this length can lie in, in which most was taken. */
export function mostTaken(samples: readonly Sample[], lengthMs: number): Taken {
  let most = takenIn([]);
  let [first, ofMs] = [0, 0];
  for (const [last, { ms }] of samples.entries()) {
    ofMs += ms;
    // It may begin late in the first of these and end early in the last one.
    while (first < last && ofMs - (samples[first]?.ms ?? 0) - ms >= lengthMs) {
      ofMs -= samples[first]?.ms ?? 0;
      first += 1;
    }
    if (ofMs < lengthMs && last < samples.length - 1) continue;
    const taken = takenIn(samples.slice(first, last + 1));
    if (taken.ms >= most.ms) most = taken;
  }
  return most;
}

/**
 * What each thread of a process has waited for a core, and of all that it has started, which work for it; not of those that this process has
 * started. The system keeps for each thread: nanoseconds on a core, nanoseconds in which it was ready and waited for one, turns.
 */
export function waitedMsByThread(pid: number): ReadonlyMap<string, number> {
  const waited = new Map<string, number>();
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  for (const thread of threads) {
    const text = unlessGone(() => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'));
    if (text !== null) waited.set(thread, Number(text.split(' ')[1]) / 1e6);
  }
  for (const child of pid === process.pid ? [] : childrenOf(pid))
    for (const [thread, ms] of waitedMsByThread(child)) waited.set(thread, ms);
  return waited;
}

function childrenOf(pid: number): number[] {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  return (text ?? '').split(' ').filter(Boolean).map(Number);
}

/** Where the system has no such files (it is not Linux), nothing is taken. */
function unlessGone<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
