import { randomBytes } from 'node:crypto';
import { type Answer, exchange, type Sending, textAt } from './exchange.ts';
import { expectStatus } from './expectation.ts';
import type { Walked } from './walked.ts';

export const PASSWORD = 'a password of some length';

/** A member at a browser: their calls carry the session's cookie and, for writes, its token. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  call(method: string, path: string, sending?: Sending): Promise<Answer>;
}

/** Invites a person, who accepts and is signed in. */
export async function joinAs(url: string, inviter: string, role: string): Promise<Person> {
  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const invited = await exchange(url, 'POST', '/api/org/invitations', {
    key: inviter,
    body: { email, role },
  });
  expectStatus(invited, 201);
  const token = new URL(textAt(invited, 'accept_url')).hash.replace('#token=', '');
  const body = { token, name: 'Grace', password: PASSWORD };
  const joined = await exchange(url, 'POST', '/api/invitations/accept', { body });
  expectStatus(joined, 201);
  const cookie = joined.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const csrf = textAt(joined, 'csrf_token');
  return {
    userId: textAt(joined, 'user.id'),
    email,
    call: (method, path, sending = {}) =>
      exchange(url, method, path, {
        ...sending,
        headers: { cookie, ...(method === 'GET' ? {} : { 'x-csrf-token': csrf }), ...sending.headers },
      }),
  };
}

export function memberOf({ url, adminKey }: Walked, role: string): Promise<Person> {
  return joinAs(url, adminKey, role);
}

/** A User API key as its creation answered it. */
export interface Key {
  readonly id: string;
  readonly secret: string;
  readonly made: Answer;
}

type Creates = Pick<Person, 'call'>;

export async function newKey(creator: Creates, scopes: readonly string[], more: object = {}): Promise<Key> {
  const body = { name: `Key ${randomBytes(4).toString('hex')}`, scopes, ...more };
  const made = await creator.call('POST', '/api/account/api-keys', { body });
  expectStatus(made, 201);
  return { id: textAt(made, 'key.id'), secret: textAt(made, 'api_key'), made };
}

/** One key of the owner for each list of scopes, however often it is asked for. */
export function keyWith(site: Walked, ...scopes: readonly string[]): Promise<Key> {
  return site.once(`key with ${scopes.join()}`, () => newKey(site, scopes));
}

/** A member with this role whose key has these scopes; what the role loses, the key loses. */
export function workload(site: Walked, role: string, scopes: readonly string[]) {
  return site.once(`workload of a ${role} with ${scopes.join()}`, async () => {
    const member = await memberOf(site, role);
    return { member, key: await newKey(member, scopes) };
  });
}
