import type { Outcome, RequestLogEntry } from './request-log.ts';

export interface Counts {
  requests: number;
  completed: number;
  refused: number;
  faultAnswered: number;
  errorInStream: number;
  endedEarly: number;
  cut: number;
  abortedByClient: number;
  simClosed: number;
  violations: number;
  promptTokens: number;
  completionTokens: number;
  writtenTokens: number;
  /** Sums of what responses told their clients. */
  reportedPromptTokens: number;
  reportedCompletionTokens: number;
}

const outcomeFields: Record<Exclude<Outcome, 'pending'>, keyof Counts> = {
  completed: 'completed',
  refused: 'refused',
  fault_answered: 'faultAnswered',
  error_in_stream: 'errorInStream',
  ended_early: 'endedEarly',
  cut: 'cut',
  aborted_by_client: 'abortedByClient',
  sim_closed: 'simClosed',
};

function zeroCounts(): Counts {
  return {
    requests: 0,
    completed: 0,
    refused: 0,
    faultAnswered: 0,
    errorInStream: 0,
    endedEarly: 0,
    cut: 0,
    abortedByClient: 0,
    simClosed: 0,
    violations: 0,
    promptTokens: 0,
    completionTokens: 0,
    writtenTokens: 0,
    reportedPromptTokens: 0,
    reportedCompletionTokens: 0,
  };
}

export interface Tally {
  received(entry: RequestLogEntry): void;
  finished(entry: RequestLogEntry): void;
  /** A whole answer was written, but the client left before it had all of it. */
  amended(entry: RequestLogEntry, from: Outcome): void;
  of(key?: string): Counts;
  byKey(): Record<string, Counts>;
  clear(): void;
}

export function createTally(): Tally {
  const keys = new Map<string, Counts>();

  function countsOf(key: string): Counts {
    let counts = keys.get(key);
    if (counts === undefined) {
      counts = zeroCounts();
      keys.set(key, counts);
    }
    return counts;
  }

  return {
    received(entry) {
      countsOf(entry.key).requests += 1;
    },
    finished(entry) {
      const counts = countsOf(entry.key);
      if (entry.outcome !== 'pending') counts[outcomeFields[entry.outcome]] += 1;
      counts.violations += entry.violations.length;
      counts.promptTokens += entry.promptTokens;
      counts.completionTokens += entry.completionTokens;
      counts.writtenTokens += entry.writtenTokens;
      counts.reportedPromptTokens += entry.reportedUsage?.promptTokens ?? 0;
      counts.reportedCompletionTokens += entry.reportedUsage?.completionTokens ?? 0;
    },
    amended(entry, from) {
      const counts = countsOf(entry.key);
      if (from !== 'pending') counts[outcomeFields[from]] -= 1;
      if (entry.outcome !== 'pending') counts[outcomeFields[entry.outcome]] += 1;
    },
    of(key) {
      if (key !== undefined) return { ...(keys.get(key) ?? zeroCounts()) };
      const total = zeroCounts();
      for (const counts of keys.values()) {
        for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += counts[name];
      }
      return total;
    },
    byKey: () => Object.fromEntries([...keys].map(([key, counts]) => [key, { ...counts }])),
    clear() {
      keys.clear();
    },
  };
}
