import { randomBytes } from 'node:crypto';
import { setTimeout as afterMs } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Log } from '../../kit/log.ts';
import { resealCredentials } from '../../store/configuration/reseal-credentials.ts';
import { resealPoisonedUsage } from '../../store/ledger/poisoned-usage.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { LIVE_SECONDS, type LiveProcess, readLiveProcesses } from '../../store/secrets/live-processes.ts';
import {
  activateSecretCheck,
  addSecretCheck,
  dropSecretCheck,
  lockSecretChecks,
  readSecretChecks,
  type SecretCheck,
} from '../../store/secrets/secret-checks.ts';
import { activeIds, nameOf, secretFault, withoutValue } from './compare-secrets.ts';
import { type OwnSecret, type OwnSecrets, type SharedName, sharedNames } from './own-secrets.ts';
import { openedCheckKey, recordKeys, sealedCheckKey, sealedUnder } from './prove-secrets.ts';

/** The step would break a running process, or lose something. Nothing was changed. */
export class RotationRefusedError extends Error {
  override readonly name = 'RotationRefusedError';
}

export interface RotateDeps {
  readonly db: Kysely<Database>;
  readonly secrets: OwnSecrets;
  readonly log: Log;
  /** Seals second factors again under the secret of sessions that is in use. */
  readonly resealSecondFactors: () => Promise<void>;
  readonly waitMs?: number;
}

export interface SecretStatus {
  readonly name: string;
  readonly state: 'one_value' | 'new_value_configured' | 'old_value_still_accepted' | 'not_recorded';
  /** Running processes that accept the newest value, of those that need the secret. */
  readonly ready: number;
  readonly processes: number;
  /** What prevents the next step; null when nothing does. */
  readonly waits_for: string | null;
}

/** How long processes take to use what is active: they look every 10 s. */
const WAIT_MS = 90_000;
const LOOK_EVERY_MS = 500;
/** A client that sent an earlier token this recently would fail without it. */
const EARLIER_USE_MS = 60_000;

/** Where each secret stands, as seen with the values of this command's environment. */
export async function rotationStatus(deps: RotateDeps): Promise<SecretStatus[]> {
  const { own, checks } = await readOwn(deps, false);
  const live = await readLiveProcesses(deps.db);
  const states: SecretStatus[] = [];
  for (const secret of own) {
    const { name, ids } = secret;
    const [newest = ''] = ids;
    const known = checks.filter((check) => check.name === name);
    if (ids.length === 0 && known.length === 0) continue;
    const needing = live.filter(({ secrets }) => secrets[name] !== undefined);
    const lacking = withoutValue(live, name, newest);
    const isNew = !known.some(({ checkId, isActive }) => isActive && checkId === newest);
    const state = stateOf(known, isNew);
    states.push({
      name,
      state,
      ready: needing.length - lacking.length,
      processes: needing.length,
      waits_for:
        state === 'new_value_configured'
          ? lackingText(name, lacking)
          : state === 'old_value_still_accepted'
            ? await blockerOf(deps, name, checks, live, false)
            : null,
    });
  }
  return states;
}

function stateOf(known: readonly SecretCheck[], isNew: boolean): SecretStatus['state'] {
  if (known.length === 0) return 'not_recorded';
  if (isNew) return 'new_value_configured';
  return known.length > 1 ? 'old_value_still_accepted' : 'one_value';
}

/** Makes the newest values of this environment the ones in use, once all running processes accept them. */
export async function startUsing(deps: RotateDeps): Promise<string[]> {
  const { own, checks } = await readOwn(deps, true);
  const active = activeIds(checks);
  const newest = own.flatMap(({ name, ids: [checkId] }) =>
    checkId === undefined ? [] : [{ name, checkId }],
  );
  const wanted = newest.filter(({ name, checkId }) => active.get(name) !== checkId);
  // An earlier run may have been interrupted between the switch and the end of its work.
  if (wanted.length === 0) await completeUse(deps, own, newest);
  return activate(deps, own, wanted);
}

/** Makes the earlier values the ones in use again. Every process still accepts them. */
export async function goBack(deps: RotateDeps): Promise<string[]> {
  const { own, checks } = await readOwn(deps, true);
  const wanted = own.flatMap(({ name }) => {
    const earlier = checks
      .filter((check) => check.name === name && !check.isActive)
      .sort((one, other) => (other.sinceMs ?? 0) - (one.sinceMs ?? 0));
    return earlier.slice(0, 1).map(({ checkId }) => ({ name, checkId }));
  });
  return activate(deps, own, wanted);
}

interface Wanted {
  readonly name: SharedName;
  readonly checkId: string;
}

async function activate(
  deps: RotateDeps,
  own: readonly OwnSecret[],
  wanted: readonly Wanted[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  requireAccepted(await readLiveProcesses(deps.db), wanted);
  const before = await switchTo(deps, wanted);
  const started = (await readLiveProcesses(deps.db)).flatMap((live) => lackingOf([live], wanted));
  if (started.length > 0) {
    // A process without the value began meanwhile.
    await switchBack(deps, before, wanted);
    throw new RotationRefusedError(started.join('\n'));
  }
  await completeUse(deps, own, wanted);
  await deps.db.transaction().execute(async (tx) => {
    // Only from now on is nothing new made under the earlier value.
    for (const { name, checkId } of wanted) await activateSecretCheck(tx, name, checkId);
  });
  return wanted.map(({ name }) => name);
}

/** Waits until all processes use the active values, and seals again what is sealed under others. Safe to repeat. */
async function completeUse(
  deps: RotateDeps,
  own: readonly OwnSecret[],
  wanted: readonly Wanted[],
): Promise<void> {
  await awaitUse(deps, wanted);
  deps.secrets.use(activeIds(await readSecretChecks(deps.db)), own);
  await reseal(deps);
}

function requireAccepted(live: readonly LiveProcess[], wanted: readonly Wanted[]): void {
  const lacking = lackingOf(live, wanted);
  if (lacking.length > 0) throw new RotationRefusedError(lacking.join('\n'));
}

function lackingOf(live: readonly LiveProcess[], wanted: readonly Wanted[]): string[] {
  return wanted.flatMap(({ name, checkId }) => lackingText(name, withoutValue(live, name, checkId)) ?? []);
}

function lackingText(name: string, lacking: readonly LiveProcess[]): string | null {
  if (lacking.length === 0) return null;
  return `${lacking.map(nameOf).join(', ')} ${lacking.length === 1 ? 'does' : 'do'} not accept the new value of ${name} yet. Restart with the new value, and the old one in ${name}_PREVIOUS. A process that was killed counts for ${LIVE_SECONDS} seconds.`;
}

/** The values that were in use before. */
async function switchTo(
  { db, secrets }: RotateDeps,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, string>> {
  return db.transaction().execute(async (tx) => {
    await lockSecretChecks(tx);
    const checks = await readSecretChecks(tx);
    const checkKey = openedCheckKey(secrets.sealer, checks);
    for (const { name, checkId } of wanted) {
      if (!checks.some((check) => check.name === name && check.checkId === checkId)) {
        const isMaster = name === 'RELAY_MASTER_KEY' && checkKey !== null;
        await addSecretCheck(tx, {
          name,
          checkId,
          sealedCheckKey: isMaster ? sealedCheckKey(secrets.sealer, checkKey, checkId) : null,
          isActive: false,
          isFromNow: true,
        });
      }
      await activateSecretCheck(tx, name, checkId);
    }
    return activeIds(checks);
  });
}

async function switchBack(
  { db }: RotateDeps,
  before: ReadonlyMap<string, string>,
  wanted: readonly Wanted[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockSecretChecks(tx);
    for (const { name, checkId } of wanted) {
      const earlier = before.get(name);
      if (earlier !== undefined) await activateSecretCheck(tx, name, earlier);
      else await sql`update secret_checks set active = false where name = ${name}`.execute(tx);
      await dropSecretCheck(tx, name, checkId);
    }
  });
}

async function awaitUse({ db, waitMs = WAIT_MS }: RotateDeps, wanted: readonly Wanted[]): Promise<void> {
  const endMs = performance.now() + waitMs;
  for (;;) {
    const live = await readLiveProcesses(db);
    const late = live.filter(({ secrets }) =>
      wanted.some(({ name, checkId }) => secrets[name] !== undefined && secrets[name].uses !== checkId),
    );
    if (late.length === 0) return;
    if (performance.now() > endMs)
      throw new RotationRefusedError(
        `The new values are active, but ${late.map(nameOf).join(', ')} did not confirm. Nothing was encrypted again. Check that it reaches PostgreSQL, then run the command again.`,
      );
    await afterMs(LOOK_EVERY_MS);
  }
}

async function reseal({ db, secrets, log, resealSecondFactors }: RotateDeps): Promise<void> {
  await resealCredentials({ db, sealer: secrets.sealer, log });
  await resealPoisonedUsage({ db, sealer: secrets.sealer, log });
  await resealSecondFactors();
}

/** Ends the acceptance of earlier values: processes can then be restarted without them. */
export async function finishRotation(
  deps: RotateDeps,
  { loseKeys }: { readonly loseKeys: boolean },
): Promise<string[]> {
  const { own, checks } = await readOwn(deps, true);
  const earlier = checks.filter(({ isActive }) => !isActive);
  if (earlier.length === 0) return [];
  const live = await readLiveProcesses(deps.db);
  deps.secrets.use(activeIds(checks), own);
  await reseal(deps);
  const names = sharedNames.filter((name) => earlier.some((check) => check.name === name));
  const blockers: string[] = [];
  for (const name of names) {
    const blocker = await blockerOf(deps, name, checks, live, loseKeys);
    if (blocker !== null) blockers.push(blocker);
  }
  if (blockers.length > 0) throw new RotationRefusedError(blockers.join('\n'));
  await deps.db.transaction().execute(async (tx) => {
    await lockSecretChecks(tx);
    for (const { name, checkId } of earlier) await dropSecretCheck(tx, name, checkId);
  });
  return names;
}

/** Who still needs an earlier value of this secret. */
async function blockerOf(
  { db }: RotateDeps,
  name: SharedName,
  checks: readonly SecretCheck[],
  live: readonly LiveProcess[],
  loseKeys: boolean,
): Promise<string | null> {
  const active = checks.find((check) => check.name === name && check.isActive);
  const late = live.filter(
    ({ secrets }) => secrets[name] !== undefined && secrets[name].uses !== active?.checkId,
  );
  if (late.length > 0)
    return `${late.map(nameOf).join(', ')} still ${late.length === 1 ? 'uses' : 'use'} the earlier value of ${name}. Run \`relay rotate-key go\`.`;
  if (name.endsWith('_TOKEN')) return earlierTokenText(db, name, live);
  if (loseKeys || active === undefined || !makesKeys(name, checks)) return null;
  const keys = await keysBefore(db, active.sinceMs);
  return keys === 0
    ? null
    : `${keys} API ${keys === 1 ? 'key was' : 'keys were'} created before the new value of ${name} was in use, and ${keys === 1 ? 'needs' : 'need'} the earlier one. Keep it in ${name}_PREVIOUS, replace the keys (\`relay keys rotate\`), or end them with \`relay rotate-key finish --lose-keys\`.`;
}

async function earlierTokenText(
  db: Kysely<Database>,
  name: string,
  live: readonly LiveProcess[],
): Promise<string | null> {
  const { rows } = await sql<{ now_ms: number }>`select extract(epoch from now()) * 1000 as now_ms`.execute(
    db,
  );
  const usedMs = Math.max(0, ...live.map(({ secrets }) => secrets[name]?.earlierUsedAtMs ?? 0));
  const agoMs = Math.max(0, Number(rows[0]?.now_ms) - usedMs);
  if (agoMs >= EARLIER_USE_MS) return null;
  return `A client sent the earlier ${name} ${Math.round(agoMs / 1_000)} seconds ago. Give every client the new one; ${EARLIER_USE_MS / 1_000} seconds after the last use, run the command again.`;
}

/** Keys are hashed under the authentication secret, or under the master key while there is none. */
function makesKeys(name: SharedName, checks: readonly SecretCheck[]): boolean {
  const hasAuthSecret = checks.some((check) => check.name === 'RELAY_AUTH_SECRET' && check.isActive);
  return name === (hasAuthSecret ? 'RELAY_AUTH_SECRET' : 'RELAY_MASTER_KEY');
}

async function keysBefore(db: Kysely<Database>, sinceMs: number | null): Promise<number> {
  const since = new Date(sinceMs ?? 0).toISOString();
  const { rows } = await sql<{ keys: string }>`
    select count(*) as keys from api_keys
    where created_at < ${since} and revoked_at is null and (expires_at is null or expires_at > now())`.execute(
    db,
  );
  return Number(rows[0]?.keys);
}

/** Records this environment's values in place of all others, for a deployment that lost one. Only while no process runs. */
export async function resetSecrets({ db, secrets }: RotateDeps): Promise<{ readonly lostKeyIds: string[] }> {
  const live = await readLiveProcesses(db);
  if (live.length > 0)
    throw new RotationRefusedError(
      `${live.map(nameOf).join(', ')} ${live.length === 1 ? 'runs' : 'run'}. Stop every process first. A process that was killed counts for ${LIVE_SECONDS} seconds.`,
    );
  return db.transaction().execute(async (tx) => {
    await lockSecretChecks(tx);
    const checks = await readSecretChecks(tx);
    const { sealer } = secrets;
    const stored = await sealedUnder(tx);
    const usable = sealer.keyIds.slice(1).filter((keyId) => stored.includes(keyId));
    await tx.deleteFrom('secret_checks').execute();
    const checkKey = openedCheckKey(sealer, checks) ?? randomBytes(32);
    await recordKeys(tx, sealer, checkKey, [sealer.keyIds[0], ...usable]);
    return { lostKeyIds: stored.filter((keyId) => !sealer.keyIds.includes(keyId)) };
  });
}

/** Throws when this command's environment does not have the deployment's secrets: it would seal under a foreign key. */
async function readOwn({ db, secrets }: RotateDeps, isStrict: boolean) {
  const checks = await readSecretChecks(db);
  const checkKey = openedCheckKey(secrets.sealer, checks);
  if (checkKey === null && checks.length === 0)
    throw new RotationRefusedError(
      'No process of this version has started on this database yet. Start one first.',
    );
  if (checkKey === null)
    throw new RotationRefusedError(
      'RELAY_MASTER_KEY and RELAY_MASTER_KEY_PREVIOUS do not contain the master key that this deployment uses. Run the command with the settings of one of its processes.',
    );
  const own = secrets.withCheckKey(checkKey);
  const fault = isStrict ? secretFault(own, checks) : null;
  if (fault !== null) throw new RotationRefusedError(fault);
  secrets.use(activeIds(checks), own);
  return { own, checks };
}
