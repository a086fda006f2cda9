import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { credential, endpoint, lane, member, provider, snapshot } from '../snapshot.fixture.ts';
import type { Credential, Endpoint, Lane, Provider } from '../snapshot.ts';
import { routingTableOf } from './routing.ts';
import { type Asked, unfitness } from './unfit.ts';

describe('resolving a model', () => {
  const table = routingTableOf(
    snapshot({
      providers: [provider('openai'), provider('azure')],
      endpoints: [
        endpoint('e1', 'openai', 'gpt', { createdAtMs: 1 }),
        endpoint('e2', 'azure', 'gpt', { createdAtMs: 2 }),
        endpoint('e3', 'azure', 'openai/gpt', { createdAtMs: 3 }),
        endpoint('e4', 'azure', 'fast', { createdAtMs: 4 }),
      ],
      lanes: [
        lane('l1', { name: 'Fast Lane', slug: 'fast' }),
        lane('l2', { name: 'off', slug: 'off', enabled: false }),
      ],
      memberships: [member('l1', 'e2', 2), member('l1', 'e1', 1)],
    }),
  );
  const idsOf = (model: string) =>
    table.resolve(model)?.members.map(({ candidate }) => candidate.endpoint.id);

  it('takes a lane slug before a model of the same name, members by rank', () => {
    assert.deepEqual(idsOf('fast'), ['e1', 'e2']);
    assert.equal(table.resolve('fast')?.lane?.id, 'l1');
  });
  it('takes a lane by its name', () => assert.deepEqual(idsOf('Fast Lane'), ['e1', 'e2']));
  it('takes a lane by its slug before another by its name, whichever is older', () => {
    for (const ids of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const lanes = {
        a: lane('a', { name: 'shared', slug: 'other' }),
        b: lane('b', { name: 'B', slug: 'shared' }),
      };
      const both = routingTableOf(snapshot({ lanes: ids.map((id) => lanes[id]) }));
      assert.equal(both.resolve('shared')?.lane?.id, 'b');
      assert.equal(both.resolve('other')?.lane?.id, 'a');
    }
  });
  it('lists no model of a disabled endpoint or provider', () => {
    const some = routingTableOf(
      snapshot({
        providers: [provider('p'), provider('off', { enabled: false })],
        endpoints: [
          endpoint('e1', 'p', 'on'),
          endpoint('e2', 'p', 'hidden', { enabled: false }),
          endpoint('e3', 'off', 'away'),
        ],
      }),
    );
    assert.deepEqual(
      some.models.map(({ id }) => id),
      ['on'],
    );
  });
  it('takes provider/model before an upstream model that looks like it', () => {
    assert.deepEqual(idsOf('openai/gpt'), ['e1']);
  });
  it('takes an upstream model from every endpoint that serves it, oldest first', () => {
    assert.deepEqual(idsOf('gpt'), ['e1', 'e2']);
    assert.equal(table.resolve('gpt')?.lane, null);
    assert.equal(table.resolve('gpt')?.selection, 'soonest');
  });
  it('does not know a disabled lane', () => assert.equal(table.resolve('off'), undefined));
  it('can call every model it lists', () => {
    assert.deepEqual(
      table.models.map(({ id }) => id),
      ['fast', 'gpt', 'openai/gpt'],
    );
    for (const { id } of table.models) assert.ok(table.resolve(id));
  });
});

describe('the priority of a route', () => {
  const tableOf = (...lanes: Lane[]) =>
    routingTableOf(snapshot({ providers: [provider('p')], endpoints: [endpoint('e', 'p', 'model')], lanes }));
  const batch = lane('night', { priority: 'batch' });

  it('is that of its lane, and standard for a model', () => {
    const table = tableOf(lane('chat', { priority: 'interactive' }), batch);
    assert.equal(table.resolve('chat')?.priority, 'interactive');
    assert.equal(table.resolve('night')?.priority, 'batch');
    assert.equal(table.resolve('model')?.priority, 'standard');
    assert.equal(table.resolve('p/model')?.priority, 'standard');
  });
  it('is one of several where enabled lanes differ in it', () => {
    const mixed = tableOf(lane('chat'), batch);
    for (const name of ['chat', 'night', 'model', 'p/model'])
      assert.equal(mixed.resolve(name)?.mixedClasses, true);
    assert.equal(tableOf(batch, lane('day', { priority: 'batch' })).resolve('night')?.mixedClasses, false);
    assert.equal(tableOf(batch, lane('off', { enabled: false })).resolve('night')?.mixedClasses, false);
    assert.equal(tableOf().resolve('model')?.mixedClasses, false);
  });
});

const NO_RULES = { needsPrice: () => null, hardLimit: () => null };
const OPENAI_ONLY: Asked = {
  isFree: false,
  unboundedAt: () => null,
  obstacle: ({ protocol }) =>
    protocol === 'openai' ? null : { why: 'operation_unsupported', reason: 'it speaks something else' },
};

describe('fitness of a candidate', () => {
  const cases: [string, Partial<Endpoint>, Partial<Provider>, boolean, boolean, string | null][] = [
    ['a plain one', {}, {}, true, true, null],
    ['a disabled membership', {}, {}, false, false, 'membership_disabled'],
    ['a disabled endpoint', { enabled: false }, {}, true, false, 'endpoint_disabled'],
    ['a disabled provider', {}, { enabled: false }, true, false, 'provider_disabled'],
    ['what it cannot be asked', { protocol: 'anthropic' }, {}, true, false, 'operation_unsupported'],
    ['no streaming', { supportsStreaming: false }, {}, true, true, 'streaming_unsupported'],
    ['no streaming, none asked', { supportsStreaming: false }, {}, true, false, null],
  ];
  for (const [what, over, providerOver, enabled, streaming, expected] of cases) {
    it(`${what}: ${expected ?? 'fit'}`, () => {
      const table = routingTableOf(
        snapshot({
          providers: [provider('p', providerOver)],
          endpoints: [endpoint('e', 'p', 'm', over)],
          lanes: [lane('l')],
          memberships: [member('l', 'e', 1, enabled)],
        }),
      );
      const found = table.resolve('l')?.members[0];
      assert.ok(found);
      assert.equal(unfitness(found, OPENAI_ONLY, streaming, NO_RULES)?.why ?? null, expected);
    });
  }
});

describe('the credential of a candidate', () => {
  function credentialFor(over: Partial<Endpoint>, credentials: Credential[]): string | undefined {
    const table = routingTableOf(
      snapshot({
        providers: [provider('p'), provider('q')],
        endpoints: [endpoint('e', 'p', 'm', over)],
        credentials,
      }),
    );
    return table.resolve('m')?.members[0]?.candidate.credential?.id;
  }

  it('is the chosen one', () => {
    assert.equal(credentialFor({ credentialId: 'b' }, [credential('a', 'p'), credential('b', 'p')]), 'b');
  });
  it('is the oldest enabled one of the provider when none is chosen', () => {
    const list = [
      credential('new', 'p', { createdAtMs: 3 }),
      credential('old', 'p', { createdAtMs: 1, enabled: false }),
      credential('mid', 'p', { createdAtMs: 2 }),
    ];
    assert.equal(credentialFor({}, list), 'mid');
  });
  it('is the one with the lower id of two that are equally old, whatever their order', () => {
    const [a, b] = [credential('a', 'p'), credential('b', 'p')];
    assert.equal(credentialFor({}, [a, b]), 'a');
    assert.equal(credentialFor({}, [b, a]), 'a');
  });
  it("is never another provider's, even when chosen", () => {
    assert.equal(credentialFor({ credentialId: 'x' }, [credential('x', 'q')]), undefined);
    assert.equal(credentialFor({}, [credential('x', 'q')]), undefined);
  });
  it('is none when the chosen one is disabled', () => {
    assert.equal(credentialFor({ credentialId: 'a' }, [credential('a', 'p', { enabled: false })]), undefined);
  });
});
