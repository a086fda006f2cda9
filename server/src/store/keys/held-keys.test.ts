import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createHeldKeys, type ReadKey } from './held-keys.ts';

const scopes = new Set(['relay:request'] as const);

function key(publicId: string, over: Partial<ReadKey> = {}): ReadKey {
  return {
    publicId,
    id: `id-${publicId}`,
    organizationId: 'o',
    userId: 'u',
    digest: publicId,
    scopes,
    expiresAtMs: null,
    revokedAtMs: null,
    policies: [],
    teamId: null,
    readVersion: 1,
    lastUsedAtMs: 0,
    joinedAtMs: 0,
    ...over,
  };
}

describe('held keys', () => {
  it('the least recently used makes room', () => {
    const held = createHeldKeys({ keysMax: 3 });
    for (const name of ['a', 'b', 'c']) held.add(key(name));
    held.get('a');
    held.add(key('d'));
    assert.equal(held.size, 3);
    assert.equal(held.get('b'), undefined);
    for (const name of ['a', 'c', 'd']) assert.equal(held.get(name)?.publicId, name);
  });

  it('an organization is known at the version of its first key until it is advanced, and never goes back', () => {
    const held = createHeldKeys({ keysMax: 10 });
    assert.equal(held.versionOf('o'), undefined);
    held.add(key('a', { readVersion: 5 }));
    held.add(key('b', { readVersion: 9 }));
    assert.equal(held.versionOf('o'), 5);
    held.advance('o', 7);
    held.advance('o', 6);
    assert.equal(held.versionOf('o'), 7);
    held.drop('o', 'id-a');
    held.drop('o', 'id-b');
    assert.equal(held.versionOf('o'), undefined);
    held.advance('o', 8);
    assert.equal(held.versionOf('o'), undefined);
  });

  it('a key that is read again replaces the old one', () => {
    const held = createHeldKeys({ keysMax: 10 });
    const before = held.add(key('a'));
    const after = held.add(key('a', { revokedAtMs: 1 }));
    assert.notEqual(before, after);
    assert.equal(held.get('a'), after);
    assert.equal(held.size, 1);
  });

  it('keys of an earlier membership go when one of a later membership comes', () => {
    const held = createHeldKeys({ keysMax: 10 });
    held.add(key('a', { joinedAtMs: 1 }));
    held.add(key('b', { joinedAtMs: 1 }));
    held.add(key('other', { userId: 'v', joinedAtMs: 1 }));
    held.add(key('c', { joinedAtMs: 2 }));
    assert.deepEqual(
      ['a', 'b', 'other', 'c'].map((name) => held.get(name)?.publicId),
      [undefined, undefined, 'other', 'c'],
    );
    assert.deepEqual(
      held.ownersOf('o').map(({ userId, joinedAtMs }) => [userId, joinedAtMs]),
      [
        ['v', 1],
        ['u', 2],
      ],
    );
  });

  it('what is held is always the same, however it is asked for, and never more than it may be', () => {
    const name = fc.integer({ min: 0, max: 14 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), name, joinedAtMs: fc.integer({ min: 0, max: 1 }) }),
      fc.record({ do: fc.constant('get' as const), name }),
      fc.record({ do: fc.constant('drop' as const), name }),
      fc.record({ do: fc.constant('owner' as const), name }),
      fc.record({ do: fc.constant('organization' as const), name }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const held = createHeldKeys({ keysMax: 6 });
        /** The model: public ids in order of use, the least recent first. */
        let order: ReadKey[] = [];
        const without = (gone: (each: ReadKey) => boolean) => {
          order = order.filter((each) => !gone(each));
        };
        for (const each of steps) {
          const made = key(`k${each.name}`, {
            organizationId: `o${each.name % 3}`,
            userId: `u${each.name % 5}`,
            joinedAtMs: each.do === 'add' ? each.joinedAtMs : 0,
          });
          const { publicId, organizationId, userId } = made;
          const ofOwner = (other: ReadKey) =>
            other.organizationId === organizationId && other.userId === userId;
          if (each.do === 'add') {
            held.add(made);
            without((other) => other.publicId === publicId);
            without((other) => ofOwner(other) && other.joinedAtMs !== made.joinedAtMs);
            order = [...order, made].slice(-6);
          } else if (each.do === 'get') {
            const found = order.find((other) => other.publicId === publicId);
            assert.equal(held.get(publicId) !== undefined, found !== undefined);
            if (found !== undefined) order = [...order.filter((other) => other !== found), found];
          } else if (each.do === 'drop') {
            held.drop(organizationId, made.id);
            without((other) => other.publicId === publicId);
          } else if (each.do === 'owner') {
            held.dropOwner(organizationId, userId);
            without(ofOwner);
          } else {
            held.dropOrganization(organizationId);
            without((other) => other.organizationId === organizationId);
          }
          assert.equal(held.size, order.length);
          for (const organization of ['o0', 'o1', 'o2']) {
            const owners = order.filter((other) => other.organizationId === organization);
            assert.equal(held.versionOf(organization) === undefined, owners.length === 0);
            assert.deepEqual(
              new Set(held.ownersOf(organization).map((owner) => owner.userId)),
              new Set(owners.map((other) => other.userId)),
            );
          }
        }
      }),
    );
  });
});
