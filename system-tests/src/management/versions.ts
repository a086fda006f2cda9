import { allRoutes } from '@relay/contract';
import { type Caller, itemsOf } from './answer.ts';
import type { Made } from './repeats.ts';
import { routeOf } from './route-of.ts';
import { nothing } from './shape.ts';
import type { World } from './world.ts';

interface Change {
  readonly line: string;
  readonly body: object;
  /** Changes it again: a body that changes nothing keeps the version. */
  readonly other: object;
  readonly usual: '200' | '204';
}

const lane = { name: 'Lane', default_max_wait_ms: 200, allow_fallback: true, enabled: true };
const limit = { metric: 'requests', period: 'month', limit_value: 2_000_001, enabled: true };
const other = { limit_value: 2_000_002 };

/** Every change of something that exists. */
function changesOf(made: Made, memberId: string): readonly Change[] {
  const put = (path: string, body: object, other: object): Change => ({
    line: `PUT /api/relay/${path}`,
    body,
    other: { ...body, ...other },
    usual: '200',
  });
  return [
    { line: 'PATCH /api/account', body: { name: 'Ada' }, other: { name: 'Ada L.' }, usual: '200' },
    {
      line: 'PATCH /api/account/preferences',
      body: { marketing_opt_in: false },
      other: { marketing_opt_in: true },
      usual: '200',
    },
    {
      line: `PATCH /api/account/api-keys/${made.key}`,
      body: { name: 'Renamed' },
      other: { name: 'Renamed again' },
      usual: '204',
    },
    {
      line: `PUT /api/org/api-keys/${made.memberKey}`,
      body: { labels: { app: 'one' } },
      other: { labels: { app: 'two' } },
      usual: '200',
    },
    { line: 'PATCH /api/org', body: { name: 'Acme' }, other: { name: 'Acme Ltd' }, usual: '200' },
    {
      line: `PATCH /api/org/members/${memberId}`,
      body: { role: 'viewer' },
      other: { role: 'developer' },
      usual: '200',
    },
    put(`providers/${made.provider}`, { name: 'Renamed' }, { name: 'Again' }),
    put(`credentials/${made.credential}`, { name: 'renamed' }, { name: 'again' }),
    put(`endpoints/${made.endpoint}`, { name: 'Renamed' }, { name: 'Again' }),
    put(
      `pricing-policies/${made.pricingPolicy}`,
      { flat_request_cost_micros: 7 },
      { flat_request_cost_micros: 8 },
    ),
    put(`routing-lanes/${made.lane}`, lane, { name: 'Again' }),
    put(`lane-memberships/${made.membership}`, { manual_rank: 9, enabled: true }, { manual_rank: 8 }),
    put(`guardrails/${made.guardrail}`, { name: 'Renamed' }, { name: 'Again' }),
    put(`guardrails/${made.guardrail}/bindings`, { bindings: [{ target_type: 'global' }] }, { bindings: [] }),
    put(`limit-policies/${made.limitPolicy}`, { scope_type: 'global', scope_id: null, ...limit }, other),
    budget('pro/user-limit-policies', made.userPolicy, {
      user_uuid: memberId,
      target_type: 'provider',
      target_id: made.provider,
      ...limit,
    }),
    budget('api-key-limit-policies', made.keyPolicy, {
      api_key_uuid: made.key,
      target_type: 'global',
      ...limit,
    }),
    put(`teams/${made.team}`, { name: 'Renamed', kind: 'team' }, { name: 'Again' }),
    budget('team-limit-policies', made.teamPolicy, {
      team_uuid: made.team,
      target_type: 'global',
      ...limit,
    }),
    put(`alert-destinations/${made.alertDestination}`, { name: 'Renamed' }, { name: 'Again' }),
  ];
}

function budget(path: string, limit_uuid: string, body: object): Change {
  return {
    line: `POST /api/relay/${path}`,
    body: { limit_uuid, ...body },
    other: { limit_uuid, ...body, ...other },
    usual: '200',
  };
}

/** The updates of the contract that are not tried here. */
export function changesMissed(made: Made): string[] {
  const tried = changesOf(made, made.key).map(({ line }) => routeOf(line));
  return allRoutes
    .filter(
      ({ plane, method, tag }) => plane === 'management' && /PUT|PATCH/.test(method) && tag !== 'Session',
    )
    .filter(({ id }) => !tried.includes(id))
    .map(({ id }) => id);
}

/** A change based on the current version succeeds once; a change based on an older one is rejected. */
export async function changeByVersion({ walk, memberId }: World, caller: Caller, made: Made): Promise<void> {
  for (const { line, body, other: again, usual } of changesOf(made, memberId)) {
    const first = await walk.expect(caller, line, usual, () => [], { body });
    if (first.status >= 400) continue;
    const etag = first.headers.get('etag') ?? '';
    if (!/^"[^"]+"$/.test(etag)) walk.fault(`${line}: the entity tag is ${etag}`);
    const onVersion = (tag: string, sent: object) => ({ body: sent, headers: { 'if-match': tag } });
    const second = await walk.expect(caller, line, usual, () => [], onVersion(etag, again));
    const now = second.headers.get('etag') ?? '';
    if (now === etag) walk.fault(`${line}: a change has kept the version ${etag}`);
    const stale = await walk.expect(caller, line, '412 version_conflict', nothing, onVersion(etag, body));
    if (stale.headers.get('etag') !== now) walk.fault(`${line}: a 412 does not tell the version`);
    await walk.expect(caller, line, usual, () => [], onVersion('*', body));
    await walk.expect(caller, line, usual, () => [], onVersion(`"none", ${await versionOf(line)}`, again));

    async function versionOf(of: string): Promise<string> {
      const { headers } = await walk.send(caller, of, { body });
      return headers.get('etag') ?? '';
    }
  }
}

/** Deletes what was made, in the order in which nothing is missed; first on a version that is not the current one. */
export async function deleteByVersion({ walk }: World, caller: Caller, made: Made): Promise<void> {
  const lines: readonly (readonly [line: string, usual: '200' | '204'])[] = [
    [`DELETE /api/relay/alert-destinations/${made.alertDestination}`, '204'],
    [`DELETE /api/relay/alert-destinations/${made.signedDestination}`, '204'],
    [`DELETE /api/relay/team-limit-policies?limit_uuid=${made.teamPolicy}`, '200'],
    [`DELETE /api/relay/teams/${made.team}`, '204'],
    [`DELETE /api/relay/api-key-limit-policies?limit_uuid=${made.keyPolicy}`, '200'],
    [`DELETE /api/relay/pro/user-limit-policies?limit_uuid=${made.userPolicy}`, '200'],
    [`DELETE /api/org/invitations/${made.invitation}`, '204'],
    [`DELETE /api/org/api-keys/${made.memberKey}`, '204'],
    [`DELETE /api/account/api-keys/${made.key}`, '204'],
    [`DELETE /api/relay/limit-policies/${made.limitPolicy}`, '204'],
    [`DELETE /api/relay/guardrails/${made.guardrail}`, '204'],
    [`DELETE /api/relay/lane-memberships/${made.membership}`, '204'],
    [`DELETE /api/relay/routing-lanes/${made.lane}`, '204'],
    [`DELETE /api/relay/pricing-policies/${made.pricingPolicy}`, '204'],
    [`DELETE /api/relay/endpoints/${made.endpoint}`, '204'],
    [`DELETE /api/relay/credentials/${made.credential}`, '204'],
    [`DELETE /api/relay/providers/${made.provider}`, '204'],
  ];
  for (const [line, usual] of lines) {
    await walk.expect(caller, line, '412 version_conflict', nothing, { headers: { 'if-match': '"none"' } });
    await walk.expect(caller, line, usual, () => []);
    // A key that was revoked stays to be seen.
    const [, path = ''] = line.split(' ');
    if (path.includes('api-keys/')) continue;
    const listed = itemsOf(await walk.send(caller, `GET ${path.split(/\?|\/[^/]*$/)[0]}`));
    const id = path.split(/[=/]/).at(-1);
    if (listed.some((item) => item['id'] === id)) walk.fault(`${line}: it is still listed`);
    await walk.expect(caller, line, '404 not_found', nothing);
  }
}
