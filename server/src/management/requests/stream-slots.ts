import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';

export interface StreamBounds {
  readonly perProcessMax: number;
  readonly perCallerMax: number;
}

export interface StreamSlots {
  /** Counts a stream until `ended` is aborted. Throws when there are too many. */
  take(caller: Pick<Caller, 'organizationId' | 'userId' | 'keyId'>, ended: AbortSignal): void;
  open(): number;
}

/** Limits open streams, because each holds a connection and rows in memory. */
export function createStreamSlots({ perProcessMax, perCallerMax }: StreamBounds): StreamSlots {
  const byCaller = new Map<string, number>();
  let open = 0;
  return {
    open: () => open,
    take({ organizationId, userId, keyId }, ended) {
      const caller = `${organizationId} ${keyId ?? userId}`;
      const held = byCaller.get(caller) ?? 0;
      if (held >= perCallerMax) {
        throw new RelayError('too_many_streams', {
          message: `This caller has ${held} live tails and downloads open, the maximum. Close one, then try again.`,
        });
      }
      if (open >= perProcessMax) throw new RelayError('too_many_streams');
      if (ended.aborted) return;
      open += 1;
      byCaller.set(caller, held + 1);
      const release = () => {
        open -= 1;
        const left = (byCaller.get(caller) ?? 1) - 1;
        if (left === 0) byCaller.delete(caller);
        else byCaller.set(caller, left);
      };
      ended.addEventListener('abort', release, { once: true });
    },
  };
}
