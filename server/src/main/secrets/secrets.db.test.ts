import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as afterMs } from 'node:timers/promises';
import { createLog } from '../../kit/log.ts';
import { createSealer } from '../../kit/seal.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../../store/fixtures/migrated-database.fixture.ts';
import { EnvironmentError, readEnvironment } from '../environment.ts';
import type { RoleName } from '../roles.ts';
import { createOwnSecrets, sharedNames } from './own-secrets.ts';
import { type ProvenSecrets, proveSecrets } from './prove-secrets.ts';
import {
  finishRotation,
  goBack,
  RotationRefusedError,
  resetSecrets,
  rotationStatus,
  startUsing,
} from './rotate-secrets.ts';

const log = createLog('silent');
const token = () => randomBytes(24).toString('base64url');
const masterKey = () => randomBytes(32).toString('base64');
type Source = Readonly<Record<string, string>>;

let migrated: MigratedDatabase;
let base: Source;
const running: ProvenSecrets[] = [];

function ownSecrets(source: Source, roleName: RoleName) {
  const stores = { DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x' };
  const environment = readEnvironment({ ...stores, ...source }, roleName);
  const sealer = createSealer({
    primary: environment.RELAY_MASTER_KEY,
    previous: environment.RELAY_MASTER_KEY_PREVIOUS,
  });
  const options = { environment, roleName, sealer, keptAuthSecret: null, isEmbedded: false, nowMs: Date.now };
  return { environment, secrets: createOwnSecrets(options) };
}

/** Starts what a process starts of its secrets, and repeats the proof often. */
async function startProcess(source: Source, roleName: RoleName = 'all') {
  const { environment, secrets } = ownSecrets(source, roleName);
  const processId = `1-${randomUUIDv7()}`;
  const options = { db: migrated.db, environment, roleName, secrets, processId, log, repeatMs: 20 };
  const proven = await proveSecrets(options);
  running.push(proven);
  return { secrets, proven };
}

function command(source: Source) {
  const { secrets } = ownSecrets(source, 'worker');
  const resealSecondFactors = async () => undefined;
  return { db: migrated.db, secrets, log, resealSecondFactors, waitMs: 10_000 };
}

const refusedStart = (source: Source, says: RegExp, roleName: RoleName = 'all') =>
  assert.rejects(startProcess(source, roleName), (error: unknown) => {
    assert.ok(error instanceof EnvironmentError, String(error));
    assert.match(error.message, says);
    return true;
  });
const refusedStep = (step: Promise<unknown>, says: RegExp) =>
  assert.rejects(step, (error: unknown) => {
    assert.ok(error instanceof RotationRefusedError, String(error));
    assert.match(error.message, says);
    return true;
  });

async function stopAll(): Promise<void> {
  for (const each of running.splice(0)) await each.stop();
}

/** The next value of a secret, with the one before still accepted. */
function rotated(source: Source, name: string, next = name === 'RELAY_MASTER_KEY' ? masterKey() : token()) {
  return { ...source, [name]: next, [`${name}_PREVIOUS`]: source[name] ?? '' };
}

describe('the secrets of a deployment', () => {
  before(async () => {
    migrated = await migratedDatabase();
  });
  beforeEach(async () => {
    await stopAll();
    await migrated.db.deleteFrom('secret_checks').execute();
    await migrated.db.deleteFrom('live_processes').execute();
    await migrated.db.deleteFrom('organizations').execute();
    base = {
      RELAY_MASTER_KEY: masterKey(),
      RELAY_AUTH_SECRET: token(),
      RELAY_API_TOKEN: token(),
      RELAY_ADMIN_TOKEN: token(),
    };
  });
  after(async () => {
    await stopAll();
    await migrated.drop();
  });

  for (const roleName of ['all', 'platform', 'inference', 'worker'] as const)
    for (const name of sharedNames)
      it(`${roleName} does not start with another ${name} than the processes beside it`, async () => {
        await startProcess(base);
        const other = { ...base, [name]: name === 'RELAY_MASTER_KEY' ? masterKey() : token() };
        await refusedStart(other, new RegExp(`^${name} is not the one`), roleName);
        await stopAll();
        await refusedStart(other, new RegExp(`^${name} is not the one`), roleName);
        await startProcess(base, roleName);
      });

  it('one process of several that start at once with different values does not start', async () => {
    const others = Array.from({ length: 5 }, () => ({ ...base, RELAY_API_TOKEN: token() }));
    const starts = await Promise.allSettled(others.map((source) => startProcess(source)));
    assert.equal(starts.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  it('store nothing that tells whether a guess of a token is right', async () => {
    await startProcess(base);
    const rows = await migrated.db.selectFrom('secret_checks').selectAll().execute();
    assert.deepEqual(rows.map(({ name }) => name).sort(), [...sharedNames].sort());
    const other = { ...base, RELAY_MASTER_KEY: masterKey() };
    await stopAll();
    await migrated.db.deleteFrom('secret_checks').execute();
    await startProcess(other);
    const again = await migrated.db.selectFrom('secret_checks').selectAll().execute();
    for (const { check_id } of rows) assert.ok(!again.some((row) => row.check_id === check_id));
  });

  it('of an earlier version: a master key that opens no stored credential is not recorded', async () => {
    await storeCredential(base);
    await refusedStart(
      { ...base, RELAY_MASTER_KEY: masterKey() },
      /^RELAY_MASTER_KEY is not the one that the stored/,
    );
    assert.equal((await migrated.db.selectFrom('secret_checks').selectAll().execute()).length, 0);
    await startProcess(base);
  });

  it('a first authentication secret is used only once every process has it', async () => {
    const { RELAY_AUTH_SECRET: _, ...without } = base;
    const first = await startProcess(without);
    const second = await startProcess(base);
    assert.ok(second.secrets.keyPeppers.current.equals(first.secrets.keyPeppers.current));
    await refusedStep(startUsing(command(base)), /does not accept the new value of RELAY_AUTH_SECRET/);
    await first.proven.stop();
    await startUsing(command(base));
    assert.ok(!second.secrets.keyPeppers.current.equals(first.secrets.keyPeppers.current));
    await refusedStart(without, /^RELAY_AUTH_SECRET is not set/);
  });

  for (const name of sharedNames) {
    it(`${name} is replaced in steps, each refused while a running process would fail`, async () => {
      const [one, two] = [await startProcess(base), await startProcess(base)];
      const both = rotated(base, name);
      const newOnly = { ...base, [name]: both[name] ?? '' };
      await refusedStart(newOnly, new RegExp(`^${name} is not the one`));
      await refusedStep(startUsing(command(newOnly)), new RegExp(`${name}|master key`));
      const third = await startProcess(both);
      await refusedStep(startUsing(command(both)), new RegExp(`do not accept the new value of ${name}`));
      await Promise.all([one.proven.stop(), two.proven.stop()]);
      const fourth = await startProcess(both);
      assert.deepEqual(await startUsing(command(both)), [name]);
      await refusedStart(base, new RegExp(`^${name} is not the one`));
      await refusedStart(newOnly, new RegExp(`^${name}_PREVIOUS lacks`));
      assert.deepEqual(await goBack(command(both)), [name]);
      assert.deepEqual(await startUsing(command(both)), [name]);
      assert.deepEqual(await finishRotation(command(both), { loseKeys: false }), [name]);
      await startProcess(newOnly);
      await refusedStart(base, new RegExp(`^${name} is not the one`));
      assert.equal(third.proven.fault() ?? fourth.proven.fault(), null);
    });
  }

  it('credentials move to the new master key when every process seals under it, and back', async () => {
    await storeCredential(base);
    const both = rotated(base, 'RELAY_MASTER_KEY');
    const { secrets } = await startProcess(both);
    const [newest, earlier] = secrets.sealer.keyIds;
    assert.equal(secrets.sealer.keyId, earlier);
    assert.deepEqual(await keyIdsStored(), [earlier]);
    await startUsing(command(both));
    assert.equal(secrets.sealer.keyId, newest);
    assert.deepEqual(await keyIdsStored(), [newest]);
    await goBack(command(both));
    assert.equal(secrets.sealer.keyId, earlier);
    assert.deepEqual(await keyIdsStored(), [earlier]);
  });

  it('an interrupted step is completed by the next run', async () => {
    await storeCredential(base);
    const both = rotated(base, 'RELAY_MASTER_KEY');
    const { secrets } = await startProcess(both);
    const failing = { ...command(both), resealSecondFactors: () => Promise.reject(new Error('cut off')) };
    await assert.rejects(startUsing(failing), /cut off/);
    const [newest] = secrets.sealer.keyIds;
    // A process sealed this one before it learned of the new key.
    await storeCredential(base);
    assert.deepEqual(await startUsing(command(both)), []);
    assert.deepEqual(await keyIdsStored(), [newest]);
  });

  it('an earlier token that clients still send is kept', async () => {
    const both = rotated(base, 'RELAY_API_TOKEN');
    await startProcess(base);
    await stopAll();
    const { secrets } = await startProcess(both);
    await startUsing(command(both));
    secrets.noteEarlierUse('RELAY_API_TOKEN');
    const isAnnounced = async () =>
      (await rotationStatus(command(both))).some(({ waits_for }) => waits_for !== null);
    await until(isAnnounced);
    await refusedStep(
      finishRotation(command(both), { loseKeys: false }),
      /^A client sent the earlier RELAY_API_TOKEN \d+ seconds ago/,
    );
  });

  it('an earlier authentication secret that API keys need is kept, unless the operator ends them', async () => {
    await storeCredential(base);
    const both = rotated(base, 'RELAY_AUTH_SECRET');
    await startProcess(base);
    await stopAll();
    await startProcess(both);
    await startUsing(command(both));
    await refusedStep(
      finishRotation(command(both), { loseKeys: false }),
      /API keys? (was|were) created before/,
    );
    assert.deepEqual(await finishRotation(command(both), { loseKeys: true }), ['RELAY_AUTH_SECRET']);
  });

  it('after a reset, with no process running, the values of the environment count', async () => {
    const { proven } = await startProcess(base);
    const other = { ...base, RELAY_API_TOKEN: token(), RELAY_MASTER_KEY: masterKey() };
    await refusedStep(resetSecrets(command(other)), /runs\. Stop every process first/);
    await proven.stop();
    await resetSecrets(command(other));
    await startProcess(other);
    await refusedStart(base, /^RELAY_MASTER_KEY is not the one/);
  });

  it('a process whose secret is no longer the deployment’s says so', async () => {
    const { proven } = await startProcess(base);
    await migrated.db
      .updateTable('secret_checks')
      .set({ check_id: 'other' })
      .where('name', '=', 'RELAY_API_TOKEN')
      .execute();
    await until(() => proven.fault() !== null);
    assert.match(proven.fault() ?? '', /^RELAY_API_TOKEN is not the one/);
  });
});

/** An organization with a credential under this master key, and an API key. */
async function storeCredential(source: Source): Promise<void> {
  const sealer = createSealer({ primary: Buffer.from(source['RELAY_MASTER_KEY'] ?? '', 'base64') });
  const { organizationId, userId } = await seedOrganization(migrated.db, {
    sealed: ({ organizationId, providerId }) => {
      const binding = secretBinding({ organizationId, ownerId: providerId, secretVersion: 1 });
      return { secret: sealer.seal('sk-secret', binding), keyId: sealer.keyId };
    },
  });
  const id = randomUUIDv7();
  await migrated.db
    .insertInto('api_keys')
    .values({
      organization_id: organizationId,
      id,
      user_id: userId,
      name: 'Main',
      public_id: id.slice(-10),
      secret_hmac: Buffer.alloc(32),
      scopes: ['relay:request'],
    })
    .execute();
}

async function keyIdsStored(): Promise<string[]> {
  const rows = await migrated.db.selectFrom('credentials').select('key_id').distinct().execute();
  return rows.map(({ key_id }) => key_id);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await holds()) return;
    await afterMs(25);
  }
  throw new Error('it did not happen within 10 seconds');
}
