import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readEnvironment } from './environment.ts';
import { keepSecrets, noteShown, randomSecrets, SecretsError } from './start-secrets.ts';

describe('the secrets of a data directory', () => {
  let directory: string;
  const nothingGiven = { isGiven: () => false, isUsed: false, hasTokens: true };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'relay-secrets-test-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const path = () => join(directory, 'secrets.json');

  it('are created once, readable only by their owner, and pass every check', async () => {
    const first = await keepSecrets(directory, nothingGiven);
    assert.equal(statSync(path()).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(directory), ['secrets.json']);
    const environment = readEnvironment({ ...first.values }, 'all', 'embedded');
    assert.notEqual(environment.RELAY_API_TOKEN, environment.RELAY_ADMIN_TOKEN);
    const second = await keepSecrets(directory, { ...nothingGiven, isUsed: true });
    assert.deepEqual(second.values, first.values);
  });

  it('are new until they were printed', async () => {
    assert.equal((await keepSecrets(directory, nothingGiven)).wereShown, false);
    const again = await keepSecrets(directory, nothingGiven);
    assert.equal(again.wereShown, false);
    await noteShown(again);
    assert.equal((await keepSecrets(directory, nothingGiven)).wereShown, true);
    assert.equal(statSync(path()).mode & 0o777, 0o600);
  });

  it('are not made where the environment has them', async () => {
    const isGiven = (name: string) => name === 'RELAY_MASTER_KEY' || name === 'RELAY_API_TOKEN';
    const { values } = await keepSecrets(directory, { ...nothingGiven, isGiven });
    assert.deepEqual(Object.keys(values).sort(), ['RELAY_ADMIN_TOKEN', 'RELAY_AUTH_SECRET']);
  });

  it('have no tokens in a deployment without any', async () => {
    const { values, wereShown } = await keepSecrets(directory, { ...nothingGiven, hasTokens: false });
    assert.deepEqual(Object.keys(values).sort(), ['RELAY_AUTH_SECRET', 'RELAY_MASTER_KEY']);
    assert.equal(wereShown, true);
  });

  it('never get a new master key in a directory that was used before', async () => {
    await assert.rejects(keepSecrets(directory, { ...nothingGiven, isUsed: true }), (error: unknown) => {
      assert.ok(error instanceof SecretsError);
      assert.match(error.message, /no master key.*backup.*RELAY_MASTER_KEY/);
      return true;
    });
    assert.deepEqual(readdirSync(directory), []);
    const isGiven = (name: string) => name === 'RELAY_MASTER_KEY';
    await keepSecrets(directory, { ...nothingGiven, isGiven, isUsed: true });
  });

  it('that cannot be read are said to be, without a word of them', async () => {
    writeFileSync(path(), '{"RELAY_MASTER_KEY": "half a ke');
    await assert.rejects(keepSecrets(directory, nothingGiven), (error: unknown) => {
      assert.ok(error instanceof SecretsError);
      assert.match(error.message, /secrets\.json is not JSON/);
      assert.doesNotMatch(error.message, /half/);
      return true;
    });
  });

  it('that others could read are closed to them', async () => {
    await keepSecrets(directory, nothingGiven);
    chmodSync(path(), 0o644);
    await keepSecrets(directory, nothingGiven);
    assert.equal(statSync(path()).mode & 0o777, 0o600);
  });

  it('are different every time', () => {
    const [one, other] = [randomSecrets(), randomSecrets()];
    for (const [name, value] of Object.entries(one)) assert.notEqual(value, Reflect.get(other, name));
    assert.equal(new Set(Object.values(one)).size, 4);
  });

  it('are written as a person can read them', async () => {
    await keepSecrets(directory, nothingGiven);
    assert.equal(readFileSync(path(), 'utf8').split('\n').length, 8);
  });
});
