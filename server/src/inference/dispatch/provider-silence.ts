import type { Clock } from '../../kit/clock.ts';
import { entryIn } from '../../kit/entry-in.ts';

/** Every provider is silent for less while it works. */
const SILENT_MS_MIN = 10_000;
const SHOWN_MAX = 50;
/** Endpoints that are remembered; beyond it, the one that was met first is forgotten. */
const ENDPOINTS_MAX = 5_000;

export interface SilentEndpoint {
  readonly endpointId: string;
  readonly silentMs: number;
  /** Attempts in flight that have no response yet. */
  readonly unanswered: number;
}

/**
 * How long endpoints have sent nothing although requests wait for them. A client that leaves ends no silence; otherwise clients with a
 * short timeout would hide a provider that never answers.
 */
export interface ProviderSilence {
  sent(endpointId: string): void;
  /** The head of a response has arrived. */
  answered(endpointId: string): void;
  /** An attempt is over without a response. */
  unanswered(endpointId: string): void;
  /** The longest silences, of endpoints that a request waits for now. */
  silent(): SilentEndpoint[];
}

interface Waited {
  waiting: number;
  /** When the last response came, or the first attempt after it was sent. */
  sinceMs: number | null;
}

export function watchSilence(clock: Clock): ProviderSilence {
  const endpoints = new Map<string, Waited>();

  return {
    sent(endpointId) {
      const waited = entryIn(endpoints, endpointId, () => ({ waiting: 0, sinceMs: null }));
      waited.waiting += 1;
      waited.sinceMs ??= clock.monotonicMs();
      if (endpoints.size > ENDPOINTS_MAX) forgetFirst(endpoints);
    },
    answered(endpointId) {
      const waited = endpoints.get(endpointId);
      if (waited === undefined) return;
      waited.waiting = Math.max(0, waited.waiting - 1);
      waited.sinceMs = waited.waiting === 0 ? null : clock.monotonicMs();
    },
    unanswered(endpointId) {
      const waited = endpoints.get(endpointId);
      if (waited !== undefined) waited.waiting = Math.max(0, waited.waiting - 1);
    },
    silent() {
      const nowMs = clock.monotonicMs();
      const found: SilentEndpoint[] = [];
      for (const [endpointId, { waiting, sinceMs }] of endpoints) {
        if (waiting === 0 || sinceMs === null || nowMs - sinceMs < SILENT_MS_MIN) continue;
        found.push({ endpointId, silentMs: nowMs - sinceMs, unanswered: waiting });
      }
      return found.sort((a, b) => b.silentMs - a.silentMs).slice(0, SHOWN_MAX);
    },
  };
}

function forgetFirst(endpoints: Map<string, Waited>): void {
  const { value: first } = endpoints.keys().next();
  if (first !== undefined) endpoints.delete(first);
}
