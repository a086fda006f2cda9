import { randomBytes } from 'node:crypto';
import { headers as headerNames, type Session } from '@relay/contract';
import { PASSWORD } from './requests.ts';

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
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`POST ${path} answered ${response.status}: ${text}`);
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { session: JSON.parse(text) as Session, cookie };
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
