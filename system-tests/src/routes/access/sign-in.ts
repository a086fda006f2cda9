import { randomBytes } from 'node:crypto';
import { headers as headerNames, type Session } from '@relay/contract';
import { PASSWORD } from '../../harness/examples.ts';
import { relayFetch } from '../../harness/relay-fetch.ts';

/** A member signed in with a browser. */
export interface SignedIn {
  readonly session: Session;
  /** As a browser sends it back. */
  readonly cookie: string;
}

export function allHeaders({ cookie, session }: SignedIn): Readonly<Record<string, string>> {
  return { cookie, [headerNames.csrfToken]: session.csrf_token };
}

export async function signIn(url: string, path: string, body: object): Promise<SignedIn> {
  const { status, text, headers, body: session } = await relayFetch(url, 'POST', path, { body });
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { session: session as Session, cookie };
}

/** A new person with an organization of their own. */
export function signUp(url: string): Promise<SignedIn> {
  return signIn(url, '/api/signup', {
    name: 'Ada',
    email: `${randomBytes(8).toString('hex')}@example.com`,
    password: PASSWORD,
    organization_name: 'Acme',
  });
}
