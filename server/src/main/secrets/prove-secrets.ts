import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Kysely, sql } from 'kysely';
import { signingKeyOf, verifyKeyOf } from '../../edge/context/context-key.ts';
import type { Log } from '../../kit/log.ts';
import type { RotatingSealer } from '../../kit/seal.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { AnnouncedSecret, AnnouncedSecrets } from '../../store/postgres/secret-tables.ts';
import {
  announceProcess,
  type LiveProcess,
  readLiveProcesses,
  withdrawProcess,
} from '../../store/secrets/live-processes.ts';
import {
  addSecretCheck,
  lockSecretChecks,
  readSecretChecks,
  type SecretCheck,
} from '../../store/secrets/secret-checks.ts';
import { type Environment, EnvironmentError } from '../environment.ts';
import type { RoleName } from '../roles.ts';
import { activeIds, contextFault, SIGNING_KEY, secretFault, VERIFY_KEYS } from './compare-secrets.ts';
import type { OwnSecret, OwnSecrets } from './own-secrets.ts';

export interface ProveDeps {
  readonly db: Kysely<Database>;
  readonly environment: Environment;
  readonly roleName: RoleName;
  readonly secrets: OwnSecrets;
  /** Null with embedded stores, which one process uses. */
  readonly processId: string | null;
  readonly log: Log;
  readonly repeatMs?: number;
}

export interface ProvenSecrets {
  /** Why this process may no longer serve: the deployment uses a secret that it does not have. */
  fault(): string | null;
  stop(): Promise<void>;
}

const REPEAT_MS = 10_000;
const BINDING = ['secret check key'];

/**
 * Proves that this process has the deployment's secrets, and throws `EnvironmentError` otherwise. The first process of a deployment
 * records its own. Repeats the proof while the process runs, and uses what `relay rotate-key` makes active.
 */
export async function proveSecrets(deps: ProveDeps): Promise<ProvenSecrets> {
  const { db, secrets, processId, log, repeatMs = REPEAT_MS } = deps;
  const checkKey = await openCheckKey(deps, await readSecretChecks(db));
  const own = secrets.withCheckKey(checkKey);
  let recorded: ReadonlyMap<string, string> = new Map();
  let fault: string | null = null;

  const self = (): LiveProcess => ({
    id: processId ?? '',
    role: deps.roleName,
    host: hostname(),
    secrets: announced(deps, own, recorded),
  });

  /** Announces first and reads afterward: `relay rotate-key` does the opposite, so that one of the two sees the other. */
  async function prove(): Promise<void> {
    if (processId !== null) await announceProcess(db, self());
    const checks = await recordMissing(deps, own, await readSecretChecks(db));
    fault = secretFault(own, checks);
    if (fault !== null) return;
    const active = activeIds(checks);
    const isNews = [...active].some(([name, id]) => recorded.get(name) !== id);
    recorded = active;
    secrets.use(active, own);
    if (processId !== null && isNews) await announceProcess(db, self());
  }

  async function withdraw(): Promise<void> {
    if (processId !== null) await withdrawProcess(db, processId);
  }

  try {
    await prove();
    if (processId !== null && fault === null) {
      const others = (await readLiveProcesses(db)).filter(({ id }) => id !== processId);
      fault = contextFault(self(), others);
    }
  } catch (error) {
    await withdraw().catch(() => undefined);
    throw error;
  }
  if (fault !== null) {
    await withdraw();
    throw new EnvironmentError(fault);
  }
  return repeat({ prove, withdraw, repeatMs, log, fault: () => fault, isAlone: processId === null });
}

function repeat(options: {
  readonly prove: () => Promise<void>;
  readonly withdraw: () => Promise<void>;
  readonly repeatMs: number;
  readonly log: Log;
  readonly fault: () => string | null;
  readonly isAlone: boolean;
}): ProvenSecrets {
  const { prove, withdraw, repeatMs, log, fault, isAlone } = options;
  let running: Promise<void> | null = null;
  let logged: string | null = null;
  // An outage of PostgreSQL is logged by the configuration poll.
  const next = () => {
    running ??= prove()
      .then(logFault, () => undefined)
      .finally(() => {
        running = null;
      });
  };
  function logFault(): void {
    const now = fault();
    if (now !== null && now !== logged)
      log.error({ why: now }, 'not ready: a secret is not the deployment’s');
    logged = now;
  }
  const timer = isAlone ? null : setInterval(next, repeatMs).unref();
  return {
    fault,
    async stop() {
      if (timer !== null) clearInterval(timer);
      await running;
      await withdraw().catch(() => undefined);
    },
  };
}

function announced(
  { environment, secrets }: ProveDeps,
  own: readonly OwnSecret[],
  active: ReadonlyMap<string, string>,
): AnnouncedSecrets {
  const said = own
    .filter(({ isNeeded }) => isNeeded)
    .map(({ name, ids }): [string, AnnouncedSecret] => {
      const uses = active.get(name) ?? null;
      // After a way back, the earlier value is the one in use.
      const earlierUsedAtMs = uses === ids[0] ? secrets.earlierUsedAtMs(name) : null;
      return [name, { accepts: ids, uses, ...(earlierUsedAtMs !== null && { earlierUsedAtMs }) }];
    });
  const { RELAY_CONTEXT_SIGNING_KEY: seed, RELAY_CONTEXT_VERIFY_KEYS: keys } = environment;
  if (seed !== null) said.push([SIGNING_KEY, { accepts: [], uses: signingKeyOf(seed).id }]);
  if (keys.length > 0)
    said.push([VERIFY_KEYS, { accepts: keys.map((key) => verifyKeyOf(key).id), uses: null }]);
  return Object.fromEntries(said);
}

/** The first value of a secret is recorded immediately, unless a running process does without any: it would reject what this one makes. */
async function recordMissing(
  { db, processId }: ProveDeps,
  own: readonly OwnSecret[],
  checks: readonly SecretCheck[],
): Promise<readonly SecretCheck[]> {
  const isMissing = ({ name, ids }: OwnSecret, known: readonly SecretCheck[]) =>
    ids.length > 0 && !known.some((check) => check.name === name);
  if (!own.some((secret) => isMissing(secret, checks))) return checks;
  return db.transaction().execute(async (tx) => {
    await lockSecretChecks(tx);
    const known = await readSecretChecks(tx);
    const others = (await readLiveProcesses(tx)).filter(({ id }) => id !== processId);
    for (const secret of own.filter((each) => isMissing(each, known))) {
      const [checkId = ''] = secret.ids;
      if (others.some(({ secrets }) => secrets[secret.name]?.accepts.length === 0)) continue;
      const { name } = secret;
      // The values of the first process may be older than this table.
      const isFromNow = others.length > 0;
      await addSecretCheck(tx, { name, checkId, sealedCheckKey: null, isActive: true, isFromNow });
    }
    return readSecretChecks(tx);
  });
}

/** The deployment's check key. Throws `EnvironmentError` when no master key of this process opens it. */
async function openCheckKey(deps: ProveDeps, checks: readonly SecretCheck[]): Promise<Buffer> {
  const opened = openedCheckKey(deps.secrets.sealer, checks);
  if (opened !== null) return opened;
  if (checks.some(({ sealedCheckKey }) => sealedCheckKey !== null))
    throw new EnvironmentError(
      secretFault(masterKeyOnly(deps.secrets), checks) ?? 'RELAY_MASTER_KEY does not open the check key.',
    );
  return deps.db.transaction().execute(async (tx) => {
    await lockSecretChecks(tx);
    const known = await readSecretChecks(tx);
    return known.length > 0 ? openCheckKey({ ...deps, db: tx }, known) : recordMasterKeys(deps, tx);
  });
}

/** Its IDs need no check key. */
function masterKeyOnly(secrets: OwnSecrets): readonly OwnSecret[] {
  return secrets.withCheckKey(Buffer.alloc(0)).filter(({ name }) => name === 'RELAY_MASTER_KEY');
}

export function openedCheckKey(sealer: RotatingSealer, checks: readonly SecretCheck[]): Buffer | null {
  for (const { checkId, sealedCheckKey } of checks)
    if (sealedCheckKey !== null && sealer.keyIds.includes(checkId))
      return Buffer.from(sealer.open(sealedCheckKey, BINDING).reveal(), 'hex');
  return null;
}

export function sealedCheckKey(sealer: RotatingSealer, checkKey: Buffer, keyId: string): Buffer {
  return sealer.seal(checkKey.toString('hex'), BINDING, keyId);
}

/** At the first start with this version: the keys that open what is stored are the deployment's. */
async function recordMasterKeys({ secrets, log }: ProveDeps, tx: Kysely<Database>): Promise<Buffer> {
  const { sealer } = secrets;
  const stored = await sealedUnder(tx);
  const usable = sealer.keyIds.filter((keyId) => stored.includes(keyId));
  if (stored.length > 0 && usable.length === 0)
    throw new EnvironmentError(
      'RELAY_MASTER_KEY is not the one that the stored credentials are encrypted with. Set the key that was used before. If it is lost, run `relay rotate-key reset`, start again, and store the credentials again.',
    );
  const unknown = stored.filter((keyId) => !usable.includes(keyId));
  if (unknown.length > 0)
    log.warn(
      { key_ids: unknown },
      'some stored secrets are encrypted with master keys that are not configured',
    );
  const checkKey = randomBytes(32);
  await recordKeys(tx, sealer, checkKey, usable.length === 0 ? [sealer.keyIds[0]] : usable);
  return checkKey;
}

/** The first of these keys is the active one. */
export async function recordKeys(
  tx: Kysely<Database>,
  sealer: RotatingSealer,
  checkKey: Buffer,
  keyIds: readonly string[],
): Promise<void> {
  for (const [index, checkId] of keyIds.entries())
    await addSecretCheck(tx, {
      name: 'RELAY_MASTER_KEY',
      checkId,
      sealedCheckKey: sealedCheckKey(sealer, checkKey, checkId),
      isActive: index === 0,
      isFromNow: false,
    });
}

/** The IDs of the master keys under which secrets are stored. Reads an index whole, so it is not for every start. */
export async function sealedUnder(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ key_id: string }>`
    select key_id from credentials union select key_id from guardrails where key_id is not null
    union select key_id from alert_destinations where key_id is not null`.execute(db);
  return rows.map(({ key_id }) => key_id);
}
