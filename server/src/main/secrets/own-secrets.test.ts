import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { createSealer } from '../../kit/seal.ts';
import { keyPepperFrom } from '../auth-secrets.ts';
import { readEnvironment } from '../environment.ts';
import { createOwnSecrets } from './own-secrets.ts';

const masterKey = randomBytes(32).toString('base64');
const text = () => randomBytes(24).toString('base64url');
const base = {
  DATABASE_URL: 'postgres://x/y',
  REDIS_URL: 'redis://x',
  RELAY_MASTER_KEY: masterKey,
  RELAY_API_TOKEN: text(),
  RELAY_ADMIN_TOKEN: text(),
};

function ownSecrets(more: Readonly<Record<string, string>>, keptAuthSecret: string | null = null) {
  const environment = readEnvironment({ ...base, ...more });
  const sealer = createSealer({
    primary: environment.RELAY_MASTER_KEY,
    previous: environment.RELAY_MASTER_KEY_PREVIOUS,
  });
  const options = { environment, roleName: 'all', keptAuthSecret, isEmbedded: false } as const;
  return createOwnSecrets({ ...options, sealer, nowMs: Date.now });
}

const ofMaster = keyPepperFrom(Buffer.from(masterKey, 'base64'));
const accepts = (secrets: ReturnType<typeof ownSecrets>, pepper: typeof ofMaster) =>
  secrets.keyPeppers.accepted.some((each) => each.equals(pepper));

describe('the secrets of a process', () => {
  it('verify API keys of the time without an authentication secret once there is one, which new keys then use', () => {
    const secrets = ownSecrets({ RELAY_AUTH_SECRET: text() });
    assert.ok(!secrets.keyPeppers.current.equals(ofMaster));
    assert.ok(accepts(secrets, ofMaster));
  });

  it('verify API keys of the secret that a data directory keeps beside the one of the environment', () => {
    const kept = text();
    const secrets = ownSecrets({ RELAY_AUTH_SECRET: text() }, kept);
    assert.ok(!secrets.keyPeppers.current.equals(keyPepperFrom(kept)));
    assert.ok(accepts(secrets, keyPepperFrom(kept)));
  });

  it('verify API keys of earlier master keys and authentication secrets as long as they are listed', () => {
    const [next, earlier] = [randomBytes(32).toString('base64'), text()];
    const listed = ownSecrets({
      RELAY_MASTER_KEY: next,
      RELAY_MASTER_KEY_PREVIOUS: masterKey,
      RELAY_AUTH_SECRET: text(),
      RELAY_AUTH_SECRET_PREVIOUS: earlier,
    });
    assert.ok(accepts(listed, ofMaster) && accepts(listed, keyPepperFrom(earlier)));
    assert.ok(!accepts(ownSecrets({ RELAY_MASTER_KEY: next }), ofMaster));
  });

  it('use the value that is active, not the newest one', () => {
    const [next, earlier, newer] = [randomBytes(32).toString('base64'), text(), text()];
    const secrets = ownSecrets({
      RELAY_MASTER_KEY: next,
      RELAY_MASTER_KEY_PREVIOUS: masterKey,
      RELAY_AUTH_SECRET: newer,
      RELAY_AUTH_SECRET_PREVIOUS: earlier,
    });
    const own = secrets.withCheckKey(randomBytes(32));
    const idsOf = (name: string) => own.find((each) => each.name === name)?.ids ?? [];
    const useIndex = (index: number) =>
      secrets.use(new Map(own.map(({ name }) => [name, idsOf(name)[index] ?? ''])), own);
    useIndex(1);
    assert.equal(secrets.sealer.keyId, secrets.sealer.keyIds[1]);
    assert.ok(secrets.keyPeppers.current.equals(keyPepperFrom(earlier)));
    useIndex(0);
    assert.equal(secrets.sealer.keyId, secrets.sealer.keyIds[0]);
    assert.ok(secrets.keyPeppers.current.equals(keyPepperFrom(newer)));
  });

  it('hash API keys under the master key until an authentication secret is recorded, which other processes may lack', () => {
    const secrets = ownSecrets({ RELAY_AUTH_SECRET: text() });
    const own = secrets.withCheckKey(randomBytes(32));
    secrets.use(new Map([['RELAY_MASTER_KEY', secrets.sealer.keyId]]), own);
    assert.ok(secrets.keyPeppers.current.equals(ofMaster));
  });

  it('have check IDs that tell nothing without the check key', () => {
    const secrets = ownSecrets({});
    const idsUnder = (checkKey: Buffer) =>
      secrets.withCheckKey(checkKey).find(({ name }) => name === 'RELAY_API_TOKEN')?.ids;
    const checkKey = randomBytes(32);
    assert.deepEqual(idsUnder(checkKey), idsUnder(checkKey));
    assert.notDeepEqual(idsUnder(checkKey), idsUnder(randomBytes(32)));
  });
});
