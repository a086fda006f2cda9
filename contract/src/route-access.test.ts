import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopesOf, scopesSatisfy } from './route-access.ts';
import { routeAccess } from './route-access-table.ts';
import { allRoutes, type RouteBody, type RouteParams, type RouteQuery, type RouteResult } from './routes.ts';
import { allScopes, isScope } from './scopes.ts';

describe('the access table', () => {
  it('has what each route says of itself', () => {
    assert.deepEqual(routeAccess, Object.fromEntries(allRoutes.map(({ id, access }) => [id, access])));
  });

  it('names only scopes that exist, and uses every scope', () => {
    const used = new Set(Object.values(routeAccess).flatMap(scopesOf));
    for (const scope of used) assert.ok(isScope(scope), scope);
    assert.deepEqual(
      allScopes.filter((scope) => !used.has(scope)),
      [],
    );
  });

  it('leaves open to the public only probes, metrics, documents, sign-in and what is signed by its sender', () => {
    const open = allRoutes.filter((route) => route.access === 'public').map((route) => route.id);
    assert.deepEqual(open.toSorted(), [
      'acceptInvitation',
      'confirmPasswordReset',
      'createSession',
      'finishSso',
      'getErrorPage',
      'getHealth',
      'getLiveness',
      'getMetrics',
      'getOpenApi',
      'getReadiness',
      'getReferenceIndex',
      'getSignInMethods',
      'receiveStripeEvent',
      'requestPasswordReset',
      'requestSignUp',
      'signUp',
      'startSso',
    ]);
  });

  it('needs a manage scope for every management write but sessions and signed events, and for every test', () => {
    const readOnlyPosts = new Set(['explainRouting', 'planConfig', 'planPrices', 'whatIf']);
    for (const route of allRoutes) {
      if (route.plane !== 'management' || route.method === 'GET' || readOnlyPosts.has(route.id)) continue;
      if (route.tag === 'Session' || route.id === 'receiveStripeEvent') continue;
      const names = scopesOf(route.access);
      assert.ok(names.length > 0 && names.every((scope) => scope.endsWith(':manage')), route.id);
    }
  });
});

describe('scopesSatisfy', () => {
  it('asks for the one, any or all', () => {
    const held = new Set(['relay:request', 'relay:usage:read'] as const);
    assert.equal(scopesSatisfy({ scope: 'relay:request' }, held), true);
    assert.equal(scopesSatisfy({ scope: 'cloud:audit:read' }, held), false);
    assert.equal(scopesSatisfy({ scopes: ['cloud:audit:read', 'relay:usage:read'] }, held), true);
    assert.equal(scopesSatisfy({ everyScope: ['cloud:audit:read', 'relay:usage:read'] }, held), false);
    assert.equal(scopesSatisfy('any_key', new Set()), true);
  });
});

describe('routes', () => {
  it('never give two routes the same method and path', () => {
    const lines = allRoutes.map((route) => `${route.method} ${route.path.replaceAll(/\{\w+\}/g, '{}')}`);
    assert.equal(new Set(lines).size, lines.length);
  });

  it('give handlers static types', () => {
    const params: RouteParams<'getProvider'> = { provider_id: 'p' };
    const query: RouteQuery<'listProviders'> = { limit: 10 };
    const body: RouteBody<'createMembership'> = { lane_id: 'l', endpoint_id: 'e', manual_rank: 1 };
    const result: RouteResult<'listLanes'>[number]['selection'] = 'preferred';
    const nothing: RouteResult<'deleteLane'> = undefined;
    // @ts-expect-error A field of the wrong type must not compile.
    const wrong: RouteBody<'createMembership'> = { lane_id: 1, endpoint_id: 'e', manual_rank: 1 };
    assert.deepEqual([params, query, body, result, nothing, wrong].length, 6);
  });
});
