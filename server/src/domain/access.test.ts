import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allScopes, expandScopes, type Scope } from '@relay/contract';
import { effectiveScopes, plans, rolePermissions, whyAbsent } from './access.ts';

describe('role permissions', () => {
  it('hold the read scope of every manage scope', () => {
    for (const [role, held] of Object.entries(rolePermissions))
      assert.deepEqual(new Set(expandScopes([...held])), held, role);
  });
  it('let only owner and admin change members, keys of others or limits', () => {
    const guarded: Scope[] = ['cloud:members:manage', 'cloud:security:manage', 'relay:limits:manage'];
    for (const role of ['developer', 'viewer', 'billing'] as const)
      for (const scope of guarded) assert.equal(rolePermissions[role].has(scope), false, `${role} ${scope}`);
  });
});

describe('effective access', () => {
  const owner = { permissions: rolePermissions.owner, plan: 'enterprise' } as const;

  it('is the intersection of key, owner and plan', () => {
    const granted = new Set<Scope>(['relay:request', 'cloud:audit:read', 'relay:limits:manage']);
    assert.deepEqual([...effectiveScopes({ ...owner, granted })].sort(), [...granted].sort());
    const developer = { ...owner, granted, permissions: rolePermissions.developer };
    assert.deepEqual([...effectiveScopes(developer)], ['relay:request']);
    const free = { ...owner, granted, plan: 'free' } as const;
    assert.equal(effectiveScopes(free).has('cloud:audit:read'), false);
  });
  it('without product access leaves the account and nothing of the product', () => {
    const left = effectiveScopes({ ...owner, granted: null, plan: 'closed' });
    assert.ok(left.has('cloud:account:manage') && left.has('cloud:billing:read'));
    assert.equal(
      [...left].some((scope) => scope.startsWith('relay:')),
      false,
    );
  });
  it('of a caller that is not a key is what its role and plan allow', () => {
    assert.deepEqual([...effectiveScopes({ ...owner, granted: null })], [...allScopes]);
  });
  it('says why a scope is absent', () => {
    const granted = new Set<Scope>(['relay:limits:manage']);
    assert.equal(whyAbsent({ ...owner, granted }, 'relay:request'), 'insufficient_scope');
    const viewer = { granted, permissions: rolePermissions.viewer };
    assert.equal(whyAbsent({ ...viewer, plan: 'team' }, 'relay:limits:manage'), 'permission_denied');
    assert.equal(whyAbsent({ ...viewer, plan: 'closed' }, 'relay:limits:manage'), 'product_access_denied');
    assert.equal(
      whyAbsent({ ...owner, granted: null, plan: 'free' }, 'cloud:audit:read'),
      'entitlement_missing',
    );
  });
  it('knows a bound or none for everything that a plan counts', () => {
    for (const plan of Object.values(plans))
      for (const count of Object.values(plan.counts)) assert.ok(count === null || count >= 0);
  });
});
