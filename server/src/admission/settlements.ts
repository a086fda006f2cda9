import type { Clock } from '../kit/clock.ts';
import type { AdmissionEngine, SettleAsk } from './engine.ts';
import type { Journal } from './journal.ts';

export interface Settlements {
  /** Settles at the engine, or in the journal when the engine fails. */
  send(settlement: SettleAsk): void;
  /** Waits for settlements in flight; returns how many are left at the timeout. */
  drain(timeoutMs: number): Promise<number>;
}

export function createSettlements(deps: {
  readonly engine: Pick<AdmissionEngine, 'settle'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly warn: (error: unknown, message: string) => void;
}): Settlements {
  const { clock } = deps;
  let inFlight = 0;

  async function settle(settlement: SettleAsk): Promise<void> {
    inFlight += 1;
    try {
      await deps.engine.settle(settlement);
    } catch (error) {
      deps.warn(error, 'settlements are kept until the store takes them');
      deps.journal.settlement(settlement);
    } finally {
      inFlight -= 1;
    }
  }

  return {
    send: (settlement) => void settle(settlement),
    async drain(timeoutMs) {
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      while (inFlight > 0 && clock.monotonicMs() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return inFlight;
    },
  };
}
