import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { browserName } from './browser-name.ts';
import { addressOf, countedAddress } from './client-address.ts';
import type { SessionSettings } from './deps.ts';
import { plainEmail } from './people.ts';
import { nameOf } from './session-secrets.ts';

/** An address or browser that was not used for this long is new again. */
const KNOWN_DAYS = 90;
const ORIGINS_PER_USER_MAX = 50;

type OriginCall = Parameters<typeof addressOf>[0];
type OriginDeps = Pick<SessionSettings, 'db' | 'secrets'>;

/** Whether the account with this e-mail address has signed in from the client's address. One query, account or not. */
export async function isKnownAddress(deps: OriginDeps, email: string, call: OriginCall): Promise<boolean> {
  const found = await deps.db
    .selectFrom('sign_in_origins as origin')
    .innerJoin('users', 'users.id', 'origin.user_id')
    .select('origin.user_id')
    .where(sql<string>`lower(users.email)`, '=', plainEmail(email))
    .where('origin.address', '=', originOf(deps, call).address)
    .where('origin.last_used_at', '>', knownSince())
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Records where the user has signed in from. `new`: from an address or with a browser that this user has not used before. */
export async function noteOrigin(
  deps: OriginDeps,
  userId: string,
  call: OriginCall,
): Promise<'first' | 'known' | 'new'> {
  const here = originOf(deps, call);
  const known = await deps.db
    .selectFrom('sign_in_origins')
    .select(['address', 'browser'])
    .where('user_id', '=', userId)
    .where('last_used_at', '>', knownSince())
    .limit(ORIGINS_PER_USER_MAX)
    .execute();
  await deps.db
    .insertInto('sign_in_origins')
    .values({ user_id: userId, ...here })
    .onConflict((clash) =>
      clash.columns(['user_id', 'address', 'browser']).doUpdateSet({ last_used_at: sql<Date>`now()` }),
    )
    .execute();
  await clearOrigins(deps.db, userId);
  if (known.length === 0) return 'first';
  const isKnown =
    known.some(({ address }) => address === here.address) &&
    known.some(({ browser }) => browser === here.browser);
  return isKnown ? 'known' : 'new';
}

/** Deletes the user's oldest rows beyond the maximum. */
async function clearOrigins(db: Kysely<Database>, userId: string): Promise<void> {
  const kept = db
    .selectFrom('sign_in_origins')
    .select('last_used_at')
    .where('user_id', '=', userId)
    .orderBy('last_used_at', 'desc')
    .offset(ORIGINS_PER_USER_MAX - 1)
    .limit(1);
  await db
    .deleteFrom('sign_in_origins')
    .where('user_id', '=', userId)
    .where('last_used_at', '<', kept)
    .execute();
}

function originOf({ secrets }: OriginDeps, call: OriginCall): { address: string; browser: string } {
  return {
    address: nameOf(secrets.current, `address ${countedAddress(addressOf(call))}`),
    browser: nameOf(secrets.current, `browser ${browserName(call.header('user-agent'))}`),
  };
}

function knownSince() {
  return sql<Date>`now() - make_interval(days => ${KNOWN_DAYS})`;
}
