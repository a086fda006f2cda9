import assert from 'node:assert/strict';
import { allRoutes, type Route } from '@relay/contract';
import { signedIn } from '../../harness/signed-in.ts';
import type { Manner } from '../manner.ts';
import { rawCall } from './raw-call.ts';

const NO_ID = '01890000-0000-7000-8000-000000000000';

/** An identity provider adds parameters of its own to the address it sends people back to. */
const thirdParty = new Set(['finishSso']);

const strict = allRoutes.filter(({ plane, id }) => plane === 'management' && !thirdParty.has(id));

export const queries: readonly Manner[] = [
  {
    name: 'a query parameter that a route does not have is refused by name, on every management route',
    async check(site) {
      const operator = await signedIn(site);
      for (const { method, path, query } of strict) {
        const url = `${site.url + path.replaceAll(/\{\w+\}/g, NO_ID)}?surprise=1`;
        const answer = await rawCall(url, { method, headers: operator });
        const said = `${method} ${path}: ${answer.status} ${answer.text}`;
        assert.equal(answer.status, 400, said);
        assert.deepEqual([answer.error.code, answer.error.param], ['invalid_request', 'surprise'], said);
        for (const known of parametersOf(query)) assert.ok(answer.error.message?.includes(known), said);
      }
    },
  },
  {
    name: 'a query parameter that is sent twice is refused by name',
    async check(site) {
      const operator = await signedIn(site);
      const repeatable = strict.filter(({ query }) => parametersOf(query).length > 0);
      assert.ok(repeatable.length >= 20, `${repeatable.length} routes`);
      for (const { method, path, query } of repeatable) {
        const [name = ''] = parametersOf(query);
        const url = `${site.url + path.replaceAll(/\{\w+\}/g, NO_ID)}?${name}=1&${name}=2`;
        const answer = await rawCall(url, { method, headers: operator });
        const said = `${method} ${path}: ${answer.status} ${answer.text}`;
        assert.deepEqual([answer.status, answer.error.param], [400, name], said);
        assert.match(answer.error.message ?? '', /more than once/, said);
      }
    },
  },
];

function parametersOf(query: Route['query']): string[] {
  const { properties } = (query ?? {}) as { properties?: object };
  return Object.keys(properties ?? {});
}
