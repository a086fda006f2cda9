import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import type { WindowCounters } from '../../store/redis/window-counters.ts';
import { nameOf, type SessionSecrets } from './session-secrets.ts';

const QUARTER_HOUR_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;

/**
 * How many attempts one subject may make per window. No subject is an account alone, unless the attempt already needs its
 * password or session: otherwise anyone could lock anyone out.
 */
const LIMITS = {
  /** Failed sign-ins to one account from one client. */
  account_and_client: { max: 10, windowMs: QUARTER_HOUR_MS },
  /** Failures of one client, whatever accounts they are for. */
  client: { max: 100, windowMs: QUARTER_HOUR_MS },
  /** Failed proofs in a session of the account. */
  proof: { max: 10, windowMs: QUARTER_HOUR_MS },
  /** Wrong codes after the right password. */
  second_factor: { max: 10, windowMs: QUARTER_HOUR_MS },
  sign_up: { max: 100, windowMs: QUARTER_HOUR_MS },
  /** Sign-ups that failed where Relay sends no mail: there, a failure can tell that an address has an account. */
  failed_sign_up: { max: 20, windowMs: QUARTER_HOUR_MS },
  /** Links to one address, whether or not it has an account. */
  sign_up_address: { max: 3, windowMs: HOUR_MS },
  /** Links to one address, whether or not it has an account. Each link that was sent still works. */
  reset_address: { max: 3, windowMs: HOUR_MS },
  reset_client: { max: 20, windowMs: HOUR_MS },
} as const;

export interface Subject {
  readonly kind: keyof typeof LIMITS;
  readonly of: string;
}

export interface Attempts {
  /**
   * Counts an attempt against every subject before it is made, so that concurrent attempts cannot pass together. Throws
   * `too_many_attempts` when a subject has none left. The returned function gives the attempt back; call it when the
   * attempt did not fail.
   */
  take(subjects: readonly Subject[]): Promise<() => Promise<void>>;
}

export function createAttempts(deps: {
  readonly counters: WindowCounters;
  readonly secrets: Pick<SessionSecrets, 'current'>;
}): Attempts {
  const keyOf = ({ kind, of }: Subject) => `relay:attempts:${kind}:${nameOf(deps.secrets.current, of)}`;
  return {
    async take(subjects) {
      const taken = await Promise.all(
        subjects.map(async (subject) => {
          const { max, windowMs } = LIMITS[subject.kind];
          return { ...(await deps.counters.take(keyOf(subject), windowMs)), max };
        }),
      );
      const spent = taken.filter(({ count, max }) => count > max);
      if (spent.length > 0) throw tooManyAttempts(Math.max(...spent.map(({ resetMs }) => resetMs)));
      return async () => {
        await Promise.all(taken.map(({ giveBack }) => giveBack()));
      };
    },
  };
}

export function tooManyAttempts(waitMs: number): RelayError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new RelayError('too_many_attempts', {
    fields: { retry_after: seconds },
    headers: { [headers.retryAfter]: String(seconds) },
  });
}
