import type { Clock } from './clock.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * Stops calls to a service that does not answer. Closed: calls pass. After `failuresMax` failures in a row it opens and rejects
 * calls immediately. After `openMs` one call at a time may probe: its success closes the breaker, its failure opens it again.
 */
export interface Breaker {
  state(): BreakerState;
  /** Whether a call may be made now. A caller that gets true reports `succeeded` or `failed` once. */
  tryPass(): boolean;
  succeeded(): void;
  failed(): void;
  /** For other evidence that the service answers again. */
  reset(): void;
}

export function createBreaker(options: {
  clock: Clock;
  failuresMax: number;
  openMs: number;
  onChange?: (state: 'closed' | 'open') => void;
}): Breaker {
  const { clock, failuresMax, openMs, onChange } = options;
  let failures = 0;
  let openUntilMs: number | undefined;
  let probing = false;

  function state(): BreakerState {
    if (openUntilMs === undefined) return 'closed';
    return clock.monotonicMs() < openUntilMs ? 'open' : 'half_open';
  }

  function close(): void {
    const wasOpen = openUntilMs !== undefined;
    failures = 0;
    openUntilMs = undefined;
    probing = false;
    if (wasOpen) onChange?.('closed');
  }

  return {
    state,
    tryPass() {
      const now = state();
      if (now === 'closed') return true;
      if (now === 'open' || probing) return false;
      probing = true;
      return true;
    },
    succeeded() {
      if (openUntilMs === undefined) failures = 0;
      // A late answer to a call from before the breaker opened says nothing about the present.
      else if (probing) close();
    },
    failed() {
      if (openUntilMs !== undefined) {
        if (probing) openUntilMs = clock.monotonicMs() + openMs;
        probing = false;
        return;
      }
      failures += 1;
      if (failures < failuresMax) return;
      openUntilMs = clock.monotonicMs() + openMs;
      onChange?.('open');
    },
    reset: close,
  };
}
