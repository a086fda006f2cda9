import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import { sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { addOneOfEach, asKey, refusal } from '../fixture.ts';
import { configFileRoom, SECRET, smallFile, withSecret } from './config-file.fixture.ts';

describe('secrets of the configuration file', () => {
  const { room, empty, exported, plan, apply } = configFileRoom();

  async function storedSecrets({ organizationId }: Caller): Promise<(string | undefined)[]> {
    const snapshot = await room().snapshots.load(organizationId);
    return [...(snapshot?.credentials.values() ?? [])].map(({ secret }) => secret?.reveal());
  }

  it('are stored sealed and are nowhere in the export, the plan, the answer, the audit log or any table', async () => {
    const caller = await empty();
    const answers = [await plan(caller, smallFile()), await apply(caller, smallFile(), withSecret)];
    const rotated = 'sk-the-next-secret-of-it';
    answers.push(await apply(caller, smallFile(), { secrets: { 'env:MAIN_KEY': rotated } }));
    assert.deepEqual(await storedSecrets(caller), [rotated]);
    const { rows: audit } = await sql`select * from audit_log
      where organization_id = ${caller.organizationId}`.execute(room().db);
    assert.equal(audit.length, 8);
    const { rows: credentials } = await sql`select * from credentials`.execute(room().db);
    const everything = JSON.stringify([answers, await exported(caller), audit, credentials]);
    for (const secret of [SECRET, rotated]) {
      assert.ok(!everything.includes(secret));
      assert.ok(!everything.includes(Buffer.from(secret).toString('base64')));
      assert.ok(!everything.includes(JSON.stringify([...Buffer.from(secret)]).slice(1, -1)));
    }
  });

  it('are asked for by name in the plan, and a new credential without its secret is refused by it', async () => {
    const caller = await empty();
    assert.deepEqual((await plan(caller, smallFile())).required_secrets, ['env:MAIN_KEY']);
    await assert.rejects(
      apply(caller, smallFile()),
      refusal('invalid_request', 'credentials[0].secret_ref', /env:MAIN_KEY/),
    );
    assert.deepEqual(await exported(caller), { version: 1 });
    await apply(caller, smallFile(), withSecret);
    assert.deepEqual((await plan(caller, smallFile())).required_secrets, []);
  });

  it('are replaced when they differ, and left alone when they are the same', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const version = await room().configVersion(caller);
    assert.deepEqual((await apply(caller, smallFile(), withSecret)).changes, []);
    assert.equal(await room().configVersion(caller), version);
    const { plan_hash } = await plan(caller, smallFile());
    const { changes } = await apply(caller, smallFile(), {
      secrets: { 'env:MAIN_KEY': 'sk-another' },
      plan_hash,
    });
    assert.deepEqual(
      changes.map(({ section, fields }) => ({ section, fields })),
      [{ section: 'credentials', fields: [{ field: 'secret', before: '[stored]', after: '[replaced]' }] }],
    );
    assert.deepEqual(await storedSecrets(caller), ['sk-another']);
  });

  it('are needed again under another reference, but not when one entered by hand gets its first', async () => {
    const caller = await empty();
    const small = smallFile();
    await apply(caller, small, withSecret);
    const other: ConfigFile = {
      ...small,
      credentials: [{ ...small.credentials[0], secret_ref: 'env:B' } as never],
    };
    await assert.rejects(
      apply(caller, other),
      refusal('invalid_request', 'credentials[0].secret_ref', /env:B/),
    );
    await apply(caller, other, { secrets: { 'env:B': 'sk-b' } });
    assert.deepEqual(await storedSecrets(caller), ['sk-b']);

    const byHand = await empty();
    await addOneOfEach(room(), byHand);
    await apply(byHand, await exported(byHand));
    assert.deepEqual(await storedSecrets(byHand), ['sk-a-secret-of-the-provider']);
  });

  it('are never sent to an origin they were not entered for', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const moved: ConfigFile = {
      ...smallFile(),
      providers: [{ name: 'Main', base_url: 'https://evil.example/v1' }],
    };
    assert.deepEqual((await plan(caller, moved)).required_secrets, ['env:MAIN_KEY']);
    await assert.rejects(apply(caller, moved), refusal('invalid_request', 'credentials[0].secret_ref'));
    await apply(caller, moved, withSecret);
    const { rows } = await sql<{ secret_version: number }>`select secret_version from credentials
      where organization_id = ${caller.organizationId}`.execute(room().db);
    assert.equal(rows[0]?.secret_version, 2);

    const withForeign = await empty();
    await addOneOfEach(room(), withForeign, 'Main');
    await assert.rejects(
      apply(withForeign, { version: 1, providers: moved.providers ?? [] }),
      refusal('conflict', 'providers[0].base_url', /"main\/Main"/),
    );
  });

  it('are changed, unchanged or unknown to a plan, which shows none and tells nothing to who may not replace them', async () => {
    const caller = await empty();
    const stateIn = async (who: Caller, secrets?: Record<string, string>) => {
      const planned = await plan(who, smallFile(), secrets === undefined ? {} : { secrets });
      assert.ok(!JSON.stringify(planned).includes('sk-'));
      const [first] = planned.secrets;
      assert.deepEqual(
        [first?.section, first?.key, first?.secret_ref],
        ['credentials', 'main/key', 'env:MAIN_KEY'],
      );
      return [first?.state, planned.updates];
    };
    assert.deepEqual(await stateIn(caller), ['unknown', 0]);
    assert.deepEqual(await stateIn(caller, withSecret.secrets), ['changed', 0]);
    await apply(caller, smallFile(), withSecret);
    assert.deepEqual(await stateIn(caller), ['unknown', 0]);
    assert.deepEqual(await stateIn(caller, withSecret.secrets), ['unchanged', 0]);
    assert.deepEqual(await stateIn(caller, { 'env:MAIN_KEY': 'sk-other' }), ['changed', 1]);
    const reader = asKey(caller, [
      'relay:providers:read',
      'relay:routing:read',
      'relay:guardrails:read',
      'relay:limits:read:organization',
    ]);
    assert.deepEqual(await stateIn(reader, withSecret.secrets), ['unknown', 0]);
  });

  it('that nothing refers to or that no header can carry are refused by their name alone', async () => {
    const caller = await empty();
    const secrets = { ...withSecret.secrets, 'env:TYPO': 'sk-typo-value' };
    const refuses = (words: RegExp, param: string) => (error: unknown) => {
      assert.ok(!String((error as Error).message).includes('sk-'));
      return refusal('invalid_request', param, words)(error);
    };
    await assert.rejects(apply(caller, smallFile(), { secrets }), refuses(/"env:TYPO"/, 'secrets'));
    await assert.rejects(
      apply(caller, smallFile(), { secrets: { 'env:MAIN_KEY': 'sk-with\nbreak' } }),
      refuses(/printable ASCII/, 'secrets["env:MAIN_KEY"]'),
    );
  });
});
