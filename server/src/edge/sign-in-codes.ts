import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../kit/clock.ts';

const CODE_BYTES = 32;
const VALID_MS = 3_600_000;
const CODES_MAX = 16;

/** Codes that sign in once as the owner of this process's deployment, for links that would otherwise contain a token. */
export interface SignInCodes {
  issue(): string;
  /** Whether the code signs in. It never does so again. */
  redeem(code: string): boolean;
}

/** Kept in memory: a code of a process that was restarted is not valid. */
export function createSignInCodes({ monotonicMs }: Pick<Clock, 'monotonicMs'>): SignInCodes {
  const validUntilMs = new Map<string, number>();
  return {
    issue() {
      const code = randomBytes(CODE_BYTES).toString('base64url');
      validUntilMs.set(digest(code), monotonicMs() + VALID_MS);
      const [oldest = ''] = validUntilMs.keys();
      if (validUntilMs.size > CODES_MAX) validUntilMs.delete(oldest);
      return code;
    },
    redeem(code) {
      const name = digest(code);
      const untilMs = validUntilMs.get(name);
      validUntilMs.delete(name);
      return untilMs !== undefined && monotonicMs() < untilMs;
    },
  };
}

/** Looked up by digest, so that the time of a look-up reveals nothing of a code. */
function digest(code: string): string {
  return hash('sha256', code);
}
