import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import { afterMs } from '../harness/until.ts';
import { type Gateways, type MadeKey, startGateways } from './gateways.ts';
import { askEverywhere, dispatchedTags, type Sent, startLoad, untilEverywhere } from './load.ts';
import { logStatements } from './statements.ts';

// Revocations while requests run at three gateways, judged by the provider's log.

const PER_SECOND = 50;
const SIBLING_PER_SECOND = 20;
const BEFORE_MS = 700;
const AFTER_MS = 1_000;
const STEADY_REQUESTS = 1_000;
const LEDGER = /insert into request|: (begin|commit)$/;

const figures = {
  dispatched_after: 0,
  sent_after: 0,
  sent_before: 0,
  changes: 0,
  key_lookups: 0,
  statements: 0,
};

let gateways: Gateways;

before(async () => {
  gateways = await startGateways();
});
after(async () => {
  await gateways.stop();
  reportFigures(figures);
});

interface Outcome {
  readonly before: readonly Sent[];
  readonly after: readonly Sent[];
  readonly sibling: readonly Sent[];
}

/** Load on a key and on its sibling; `takeAway` resolves when the change is confirmed. */
async function underLoad(
  key: MadeKey,
  takeAway: () => Promise<void>,
  afterwards = () => afterMs(AFTER_MS),
): Promise<Outcome> {
  const sibling = await gateways.createKey();
  const load = startLoad(gateways, key.key, PER_SECOND);
  const besides = startLoad(gateways, sibling.key, SIBLING_PER_SECOND);
  let failure: unknown = null;
  try {
    await afterMs(BEFORE_MS);
    await takeAway();
    load.confirm();
    await afterwards();
  } catch (error) {
    failure = error;
  }
  const [sent, ofSibling] = await Promise.all([load.stop(), besides.stop()]);
  if (failure !== null) throw failure;
  const after = sent.filter((each) => each.after);
  const dispatched = dispatchedTags(gateways);
  const late = after.filter(({ tag }) => dispatched.has(tag));
  figures.dispatched_after += late.length;
  figures.sent_after += after.length;
  figures.sent_before += sent.length - after.length;
  figures.changes += 1;
  assert.deepEqual(late, []);
  assert.ok(after.length > 20, `only ${after.length} were sent afterwards`);
  assert.deepEqual(new Set(after.map(({ gateway }) => gateway)), new Set([0, 1, 2]));
  return { before: sent.filter((each) => !each.after), after, sibling: ofSibling };
}

const statuses = (sent: readonly Sent[]) =>
  [...new Set(sent.map(({ status, code }) => `${status} ${code}`))].sort();

const revoke = (gateway: number, key: MadeKey) =>
  gateways.manage(gateway, 'DELETE', `/api/account/api-keys/${key.id}`);

describe('a key that is revoked', () => {
  for (const gateway of [0, 1, 2]) {
    it(`at gateway ${gateway} is refused by all from the next request on, and its sibling is not`, async () => {
      const key = await gateways.createKey();
      const outcome = await underLoad(key, async () => {
        assert.equal(await revoke(gateway, key), 204);
      });
      assert.deepEqual(statuses(outcome.after), ['401 revoked_api_key']);
      assert.deepEqual(statuses(outcome.sibling), ['200 null']);
      assert.ok(outcome.before.some(({ status }) => status === 200));
    });
  }

  it('while Redis is frozen opens nothing either, and the revocation is confirmed when Redis is back', async () => {
    const key = await gateways.createKey();
    const { redis } = gateways.deployment;
    const outcome = await underLoad(
      key,
      async () => {
        redis.pause();
        // Gateways cannot be notified, so Relay confirms nothing; PostgreSQL has the revocation all the same.
        assert.equal(await revoke(0, key), 503);
      },
      async () => {
        await afterMs(AFTER_MS);
        redis.resume();
        await untilConfirmed(key);
        await afterMs(AFTER_MS);
      },
    );
    assert.deepEqual(statuses(outcome.after), ['401 revoked_api_key']);
    assert.deepEqual(statuses(outcome.sibling), ['200 null']);
  });

  it('while Redis is gone and comes back empty is refused all the same', async () => {
    const key = await gateways.createKey();
    const { redis } = gateways.deployment;
    const outcome = await underLoad(
      key,
      async () => {
        await redis.kill();
        assert.equal(await revoke(1, key), 503);
      },
      async () => {
        await afterMs(AFTER_MS);
        await redis.start();
        await untilConfirmed(key);
        await afterMs(AFTER_MS);
      },
    );
    assert.deepEqual(statuses(outcome.after), ['401 revoked_api_key']);
    assert.deepEqual(statuses(outcome.sibling), ['200 null']);
  });

  it('was served while PostgreSQL was away, and is refused once that is back and it is revoked', async () => {
    const [key, cold] = [await gateways.createKey(), await gateways.createKey()];
    const { postgres } = gateways.deployment;
    await untilEverywhere(gateways, key.key, 200);
    const outcome = await underLoad(key, async () => {
      await postgres.stop();
      await afterMs(AFTER_MS);
      const unknown = await askEverywhere(gateways, cold.key, 'cold');
      assert.deepEqual(
        unknown.map(({ code }) => code),
        Array(3).fill('store_unavailable'),
      );
      await postgres.start();
      await untilConfirmed(key);
    });
    assert.deepEqual(statuses(outcome.after), ['401 revoked_api_key']);
    assert.deepEqual(statuses(outcome.sibling), ['200 null']);
    const refused = outcome.before.filter(({ status }) => status !== 200);
    // The last request was in flight during the revocation.
    assert.ok(refused.length < 10 && refused.every(({ status }) => status === 401), JSON.stringify(refused));
  });
});

/** Repeated as a client would, until it is confirmed. */
async function untilConfirmed(key: MadeKey): Promise<void> {
  const endMs = performance.now() + 15_000;
  for (;;) {
    const status = await revoke(2, key);
    if (status === 204) return;
    if (performance.now() > endMs) throw new Error(`the revocation answers ${status}`);
    await afterMs(100);
  }
}

describe('the owner of a key', () => {
  const cases = [
    { what: 'whose role is lowered', body: { role: 'viewer' }, answer: '403 permission_denied' },
    { what: 'who is suspended', body: { status: 'suspended' }, answer: '403 permission_denied' },
  ];
  for (const [index, { what, body, answer }] of cases.entries()) {
    it(`${what} is stopped at every gateway from the next request on`, async () => {
      const userId = await gateways.addMember('developer');
      const key = await gateways.createKey({ userId });
      await untilEverywhere(gateways, key.key, 200);
      const outcome = await underLoad(key, async () => {
        assert.equal(await gateways.manage(index, 'PATCH', `/api/org/members/${userId}`, body), 200);
      });
      assert.deepEqual(statuses(outcome.after), [answer]);
      assert.deepEqual(statuses(outcome.sibling), ['200 null']);
    });
  }

  it('who is removed is stopped at every gateway from the next request on', async () => {
    const userId = await gateways.addMember('developer');
    const key = await gateways.createKey({ userId });
    await untilEverywhere(gateways, key.key, 200);
    const outcome = await underLoad(key, async () => {
      assert.equal(await gateways.manage(2, 'DELETE', `/api/org/members/${userId}`), 204);
    });
    assert.deepEqual(statuses(outcome.after), ['401 invalid_api_key']);
    assert.deepEqual(statuses(outcome.sibling), ['200 null']);
  });
});

describe('a new key', () => {
  it('works at every gateway at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const key = await gateways.createKey();
      const answers = await askEverywhere(gateways, key.key, `new-${round}`);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
    }
  });
});

describe('a key in use', () => {
  it('costs no database query: a thousand requests, and not one look-up of a key', async () => {
    const log = await logStatements(gateways);
    const key = await gateways.createKey();
    await untilEverywhere(gateways, key.key, 200);
    const statements = await log.during(async () => {
      const oneByOne = async (worker: number) => {
        for (let index = 0; index < STEADY_REQUESTS / 3 / 8; index += 1) {
          const answers = await askEverywhere(gateways, key.key, `steady-${worker}-${index}`);
          assert.deepEqual(
            answers.map(({ status }) => status),
            [200, 200, 200],
          );
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, worker) => oneByOne(worker)));
    });
    const lookups = statements.filter((text) => /from\s+(api_keys|organization_members)\b/.test(text));
    // Metering writes batches of settled requests, independent of how the caller was authenticated.
    const besides = statements.filter((text) => !LEDGER.test(text));
    figures.key_lookups = lookups.length;
    figures.statements = besides.length;
    assert.deepEqual(lookups, []);
    assert.ok(besides.length > 0, 'nothing was logged');
    // What workers ask every second depends on how long the requests take, not on how many there are.
    assert.ok(besides.length < STEADY_REQUESTS / 2, `${besides.length} statements: ${besides.join('; ')}`);
  });
});
