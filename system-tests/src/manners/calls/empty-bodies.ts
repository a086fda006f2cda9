import assert from 'node:assert/strict';
import { allRoutes } from '@relay/contract';
import type { Deployment } from '../../harness/deployment.ts';
import { signedIn } from '../../harness/signed-in.ts';
import type { Manner } from '../manner.ts';
import { rawCall } from './raw-call.ts';

const NO_ID = '01890000-0000-7000-8000-000000000000';

/** Ways in which clients say that there is no body. */
const empty: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json', 'content-length': '0' },
  { 'content-type': 'application/json; charset=utf-8', 'transfer-encoding': 'chunked' },
];

const bodiless = allRoutes.filter(
  ({ plane, method, body, bodyOptional }) =>
    plane === 'management' && method !== 'GET' && (body === undefined || bodyOptional === true),
);

export const emptyBodies: readonly Manner[] = [
  {
    name: 'a call without a body may have a content type, on every route that needs no body',
    async check(site) {
      const operator = await signedIn(site);
      assert.ok(bodiless.length >= 15, `${bodiless.length} routes`);
      for (const { method, path, id } of bodiless) {
        if (id === 'deleteSession') continue;
        for (const headers of empty) {
          const url = site.url + path.replaceAll(/\{\w+\}/g, NO_ID);
          const answer = await rawCall(url, { method, headers: { ...operator, ...headers } });
          const said = `${method} ${path} ${JSON.stringify(headers)}: ${answer.text}`;
          assert.ok(answer.status !== 415 && answer.error.code !== 'invalid_json', said);
        }
      }
    },
  },
  {
    name: 'a lane is deleted, and a provider is tested, by a call with a content type and no body',
    async check(site) {
      for (const [index, headers] of empty.entries()) {
        const provider = await site.admin.create('/api/relay/providers', {
          name: `Empty ${index}`,
          base_url: site.provider.baseUrl,
          auth_mode: 'none',
          enabled: true,
        });
        const tested = await call(site, 'POST', `/api/relay/providers/${provider.id}/test`, headers);
        assert.equal(tested.status, 200, tested.text);
        const lane = await site.admin.create('/api/relay/routing-lanes', {
          name: `Empty ${index}`,
          default_max_wait_ms: 1,
          allow_fallback: true,
          enabled: true,
        });
        for (const path of [`/api/relay/routing-lanes/${lane.id}`, `/api/relay/providers/${provider.id}`]) {
          const deleted = await call(site, 'DELETE', path, headers);
          assert.equal(deleted.status, 204, deleted.text);
        }
      }
    },
  },
];

function call(site: Deployment, method: string, path: string, headers: Readonly<Record<string, string>>) {
  const authorization = `Bearer ${site.adminToken}`;
  return rawCall(site.url + path, { method, headers: { authorization, ...headers } });
}
