import { allRoutes } from '@relay/contract';
import { addressOf, sampleOf } from '../harness/examples.ts';
import type { Objects } from '../harness/objects.ts';
import { type Caller, itemsOf } from './answer.ts';
import { type Made, otherThan } from './repeats.ts';
import type { World } from './world.ts';

interface Change {
  readonly line: string;
  readonly body: object;
  /** Changes it again: a body that changes nothing keeps the version. */
  readonly other: object;
  readonly usual: string;
}

const limit = { metric: 'requests', period: 'month', limit_value: 2_000_001, enabled: true };

const updates = allRoutes.filter(
  ({ plane, method, tag }) => plane === 'management' && /PUT|PATCH/.test(method) && tag !== 'Session',
);

/** Every change of something that exists. */
function changesOf(made: Made, objects: Objects): readonly Change[] {
  const { memberId } = objects;
  const provider = { target_type: 'provider', target_id: made.provider };
  const global = { target_type: 'global' };
  return [
    ...updates.map((route): Change => {
      const sample = sampleOf[route.id](objects);
      const { body = {} } = sample;
      const line = `${route.method} ${addressOf(route, sample)}`;
      return { line, body, other: otherThan(body), usual: String(route.success.status) };
    }),
    budget('pro/user-limit-policies', made.userPolicy, { user_uuid: memberId, ...provider }),
    budget('api-key-limit-policies', made.keyPolicy, { api_key_uuid: made.key, ...global }),
    budget('team-limit-policies', made.teamPolicy, { team_uuid: made.team, ...global }),
  ];
}

function budget(path: string, limit_uuid: string, subject: object): Change {
  const body = { limit_uuid, ...subject, ...limit };
  return { line: `POST /api/relay/${path}`, body, other: otherThan(body), usual: '200' };
}

/** A change based on the current version succeeds once; a change based on an older one is rejected. */
export async function changeByVersion(
  { walk }: World,
  caller: Caller,
  made: Made,
  objects: Objects,
): Promise<void> {
  for (const { line, body, other: again, usual } of changesOf(made, objects)) {
    const first = await walk.expect(caller, line, usual, { body });
    if (first.status >= 400) continue;
    const etag = first.headers.get('etag') ?? '';
    if (!/^"[^"]+"$/.test(etag)) walk.fault(`${line}: the entity tag is ${etag}`);
    const onVersion = (tag: string, sent: object) => ({ body: sent, headers: { 'if-match': tag } });
    const second = await walk.expect(caller, line, usual, onVersion(etag, again));
    const now = second.headers.get('etag') ?? '';
    if (now === etag) walk.fault(`${line}: a change has kept the version ${etag}`);
    const stale = await walk.expect(caller, line, '412 version_conflict', onVersion(etag, body));
    if (stale.headers.get('etag') !== now) walk.fault(`${line}: a 412 does not tell the version`);
    await walk.expect(caller, line, usual, onVersion('*', body));
    await walk.expect(caller, line, usual, onVersion(`"none", ${await versionOf(line)}`, again));

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
    await walk.expect(caller, line, '412 version_conflict', { headers: { 'if-match': '"none"' } });
    await walk.expect(caller, line, usual);
    // A key that was revoked stays to be seen.
    const [, path = ''] = line.split(' ');
    if (path.includes('api-keys/')) continue;
    const listed = itemsOf(await walk.send(caller, `GET ${path.split(/\?|\/[^/]*$/)[0]}`));
    const id = path.split(/[=/]/).at(-1);
    if (listed.some((item) => item['id'] === id)) walk.fault(`${line}: it is still listed`);
    await walk.expect(caller, line, '404 not_found');
  }
}
