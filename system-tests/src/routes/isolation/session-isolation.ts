import { type BrowserSession, type RouteId, routes } from '@relay/contract';
import type { Sample } from '../../harness/examples.ts';
import { send } from '../access/send.ts';
import { allHeaders, type SignedIn, signUp } from '../access/sign-in.ts';

/** What one member's session can read or change of another's; empty when isolation holds. */
export async function findSessionLeaks(url: string): Promise<string[]> {
  const [us, them] = [await signUp(url), await signUp(url)];
  const call = (who: SignedIn, route: RouteId, sample: Sample = {}) =>
    send(url, routes[route], sample, allHeaders(who));
  const idOf = async (who: SignedIn) => {
    const { body } = await call(who, 'listSessions');
    return (body as BrowserSession[]).map(({ id }) => id).join();
  };
  const [ours, theirs] = [await idOf(us), await idOf(them)];
  const found: string[] = [];
  if (ours === theirs || ours.includes(',')) found.push(`we have the sessions ${ours}`);
  const ended = await call(us, 'revokeSession', { path: [theirs] });
  if (ended.summary !== '404 not_found') found.push(`ending their session is ${ended.summary}`);
  const switched = await call(us, 'updateSession', { body: { org_id: them.session.org.id } });
  if (switched.summary !== '404 not_found')
    found.push(`switching to their organization is ${switched.summary}`);
  const still = await call(them, 'getSession');
  if (still.summary !== '200') found.push(`their session is ${still.summary}`);
  const { text } = await call(us, 'getSession');
  if (text.includes(them.session.org.id) || text.includes(them.session.user.id))
    found.push('ours shows theirs');
  return found;
}
