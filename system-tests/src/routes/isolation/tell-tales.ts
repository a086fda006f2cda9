import { randomUUIDv7 } from 'node:crypto';
import { type RouteId, routes } from '@relay/contract';
import type { Sample } from '../../harness/examples.ts';
import type { Objects } from '../../harness/objects.ts';
import { send } from '../access/send.ts';
import {
  type Pair,
  type Probe,
  theirIds,
  theirIdsInBodies,
  theirIdsInSharedLimits,
} from './isolation-probes.ts';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const ofSharedLimits: readonly RouteId[] = ['getLimitPolicy', 'updateLimitPolicy', 'deleteLimitPolicy'];
const answersKeys = (route: RouteId) => routes[route].access !== 'session_only';

interface TellTaleSetup extends Pair {
  readonly url: string;
  /** Whether the deployment has limits that all callers share. */
  readonly sharedLimits: boolean;
}

/** Requests whose response tells an ID of another organization from an ID that exists nowhere, or names another field. */
export async function findTellTales({ url, ours, theirs, sharedLimits }: TellTaleSetup): Promise<string[]> {
  const probesOf = (objects: Objects): Probe[] => {
    const pair = { ours, theirs: { ...theirs, objects } };
    return [
      ...theirIds(pair).filter(
        ({ route }) => answersKeys(route) && (sharedLimits || !ofSharedLimits.includes(route)),
      ),
      ...theirIdsInBodies(pair),
      ...(sharedLimits ? theirIdsInSharedLimits(pair) : []),
    ];
  };
  const nowhere = probesOf(newIds(theirs.objects));
  const found: string[] = [];
  for (const [index, { route, what, sample }] of probesOf(theirs.objects).entries()) {
    const never = nowhere[index]?.sample ?? {};
    const said = async (sent: Sample) => {
      const { summary, body } = await send(url, routes[route], sent, ours.headers);
      const { param, message } = (body as { error?: { param: string | null; message: string } }).error ?? {};
      return { summary, param, message: message?.replaceAll(UUID, '…') };
    };
    const [elsewhere, absent] = [await said(sample), await said(never)];
    const named = differences(sample.body, never.body, '');
    const expected = route === 'createChatCompletion' ? '400 model_not_found' : '404 not_found';
    const isItself = String(sample.path) !== String(never.path) || named.includes('limit_uuid');
    const isNamed = named.length === 0 || isItself || named.includes(absent.param ?? '');
    if (absent.summary !== expected || !isNamed)
      found.push(`${route} with no such ${what} is ${JSON.stringify(absent)}, at fault is ${named.join()}`);
    if (JSON.stringify(elsewhere) !== JSON.stringify(absent))
      found.push(`${route} with ${what} is ${JSON.stringify(elsewhere)}, not ${JSON.stringify(absent)}`);
  }
  return found;
}

function newIds(like: Objects): Objects {
  return Object.fromEntries(Object.keys(like).map((name) => [name, randomUUIDv7()])) as unknown as Objects;
}

/** Where two bodies differ, as the `param` of an error writes it: `bindings[0].target_id`. */
function differences(one: unknown, other: unknown, path: string): string[] {
  if (typeof one !== 'object' || one === null) return one === other ? [] : [path];
  return Object.entries(one).flatMap(([key, value]) => {
    const step = Array.isArray(one) ? `[${key}]` : path === '' ? key : `.${key}`;
    return differences(value, (other as Record<string, unknown>)[key], path + step);
  });
}
