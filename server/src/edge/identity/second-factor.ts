import type { TotpSetup } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { isUniqueViolation } from '../../store/store-error.ts';
import type { Library } from './library.ts';
import type { Passwords } from './passwords.ts';
import { isSameText } from './session-secrets.ts';
import { stepOfCode } from './totp-code.ts';

export interface SecondFactor {
  /** A secret and backup codes, active after `confirm`; null when the password is wrong. */
  start(sessionToken: string, password: string): Promise<TotpSetup | null>;
  /** False: the code is wrong. Throws `conflict` when no setup waits for confirmation. `also` commits with it. */
  confirm(userId: string, code: string, also: Write): Promise<boolean>;
  /** Whether this is a current code of the authenticator app or a backup code. Each code works once. */
  consume(userId: string, code: string): Promise<boolean>;
}

interface SecondFactorDeps {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly library: () => Promise<Library>;
  readonly passwords: Pick<Passwords, 'bounded'>;
}

type Write = (tx: Transaction<Database>) => Promise<void>;

const DIGITS = /^\d{6}$/;

export function createSecondFactor(deps: SecondFactorDeps): SecondFactor {
  const { db } = deps;

  function find(userId: string) {
    return db.selectFrom('auth_two_factors').selectAll().where('user_id', '=', userId).executeTakeFirst();
  }

  return {
    async start(sessionToken, password) {
      const { api, headersOf } = await deps.library();
      const headers = await headersOf(sessionToken);
      const made = await deps.passwords
        .bounded(() => api.enableTwoFactor({ body: { password, method: 'totp' }, headers }))
        .catch(refusalOf);
      if (made === null) return null;
      if (made.method !== 'totp') throw new Error('the library has set up another second factor');
      return { uri: made.totpURI, backup_codes: made.backupCodes };
    },
    async confirm(userId, code, also) {
      const row = await find(userId);
      if (row === undefined || row.verified) throw nothingToConfirm();
      if (!(await consumeStep(deps, userId, row.secret, code))) return false;
      return db.transaction().execute(async (tx) => {
        const confirmed = await tx
          .updateTable('auth_two_factors')
          .set({ verified: true })
          .where('user_id', '=', userId)
          .where('secret', '=', row.secret)
          .executeTakeFirst();
        if (confirmed.numUpdatedRows === 0n) return false;
        await tx.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', userId).execute();
        await also(tx);
        return true;
      });
    },
    async consume(userId, code) {
      const row = await find(userId);
      if (row === undefined || !row.verified) return false;
      return DIGITS.test(code)
        ? consumeStep(deps, userId, row.secret, code)
        : consumeBackup(deps, userId, row.backup_codes, code);
    },
  };
}

/** Removes an unconfirmed setup too. The result says whether there was a confirmed one. */
export async function removeSecondFactor(tx: Kysely<Database>, userId: string): Promise<boolean> {
  const removed = await tx
    .deleteFrom('auth_two_factors')
    .where('user_id', '=', userId)
    .returning('verified')
    .executeTakeFirst();
  await tx.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', userId).execute();
  return removed?.verified === true;
}

/** The library accepts a code repeatedly while it is valid. Storing the last used time step makes it work once. */
async function consumeStep(
  { db, clock, library }: SecondFactorDeps,
  userId: string,
  sealedSecret: string,
  code: string,
): Promise<boolean> {
  const { open } = await library();
  const step = stepOfCode(await open(sealedSecret), code, clock.nowMs());
  if (step === null) return false;
  const taken = await db
    .updateTable('auth_two_factors')
    .set({ last_used_step: step })
    .where('user_id', '=', userId)
    .where('secret', '=', sealedSecret)
    .where((match) => match.or([match('last_used_step', 'is', null), match('last_used_step', '<', step)]))
    .executeTakeFirst();
  return taken.numUpdatedRows === 1n;
}

async function consumeBackup(
  { db, library }: SecondFactorDeps,
  userId: string,
  sealedCodes: string,
  code: string,
): Promise<boolean> {
  const { open, seal } = await library();
  const codes: string[] = JSON.parse(await open(sealedCodes));
  const left = codes.filter((each) => !isSameText(each, code));
  if (left.length === codes.length) return false;
  // Of two requests with the same code, which have read the same list, only one replaces it.
  const replaced = await db
    .updateTable('auth_two_factors')
    .set({ backup_codes: await seal(JSON.stringify(left)) })
    .where('user_id', '=', userId)
    .where('backup_codes', '=', sealedCodes)
    .executeTakeFirst();
  return replaced.numUpdatedRows === 1n;
}

/** The library's refusals. Every other error is a defect, or an unavailable store. */
function refusalOf(error: unknown): null {
  const { body, status } = error as { body?: { code?: string }; status?: string };
  if (body?.code === 'INVALID_PASSWORD') return null;
  if (status === 'UNAUTHORIZED') throw new RelayError('session_expired');
  // The unique violation: two requests have set one up concurrently.
  if (body?.code === 'TOTP_ALREADY_ENABLED' || isUniqueViolation(error)) {
    throw new RelayError('conflict', {
      message:
        'This account already has a second factor. Remove it first with POST /api/account/totp/remove.',
    });
  }
  throw error;
}

function nothingToConfirm(): RelayError {
  return new RelayError('conflict', {
    message: 'This account has no second factor to confirm. Set one up first with POST /api/account/totp.',
  });
}
