import { codeOf } from '../harness/authenticator.ts';
import type { Answer } from '../harness/browser.ts';
import type { Person } from './prepare.ts';
import { PASSWORD } from './site.ts';
import { isInside, isMember, isSso, type State } from './states.ts';

/** What came of a request: an active membership, or what the answer says. */
export interface Outcome {
  readonly isIn: boolean;
  readonly says: string;
  /** The same request with more fields, by anybody in the same place. */
  readonly again: Again;
}

export type Again = (person: Person, more?: object) => Promise<Outcome>;
export type Act = (person: Person) => Promise<Outcome>;

/** Sends as a browser does. */
export type Send = (person: Person, method: string, path: string, body?: object) => Promise<Answer>;

export const sendPlainly: Send = ({ browser, site, headers }, method, path, body) =>
  browser.send(method, site.deployment.url + path, body, headers);

export type Requests = ReturnType<typeof requestsBy>;

export function requestsBy(send: Send) {
  /** Whether the browser is signed in to an organization that it may work in. */
  async function judge(person: Person, answer: Answer, again: Again): Promise<Outcome> {
    const error = answer.body['error'] as { message?: string } | undefined;
    if (answer.status >= 400) return { isIn: false, says: error?.message ?? `${answer.status}`, again };
    const session = await send(person, 'GET', '/api/session');
    if (session.body['suspended'] !== true) return { isIn: session.status === 200, says: '', again };
    // What any page of theirs says.
    const { body } = await send(person, 'GET', '/api/account');
    return { isIn: false, says: (body['error'] as { message: string }).message, again };
  }

  async function post(person: Person, path: string, bodyOf: (of: Person) => object): Promise<Outcome> {
    const answer = await send(person, 'POST', path, bodyOf(person));
    const again: Again = (of, more = {}) => post(of, path, (someone) => ({ ...bodyOf(someone), ...more }));
    return judge(person, answer, again);
  }

  async function travel(person: Person): Promise<Outcome> {
    const { site, state, browser, email, subject } = person;
    const { url } = site.deployment;
    const emailVerified = state.account === 'single_sign_on';
    site.identityProvider.person = { id: subject, email, emailVerified, name: 'Ada' };
    const { answer } = await browser.follow(`${url}/api/sso/start?return_to=%2Fconsole`, `${url}/console`);
    return judge(person, answer, travel);
  }

  function signIn(person: Person, more: object = {}): Promise<Outcome> {
    if (isSso(person.state)) return travel(person);
    return post(person, '/api/session', ({ email }) => ({ email, password: PASSWORD, ...more }));
  }

  return {
    signIn: (person: Person) => signIn(person),
    open: (person: Person) => post(person, '/api/invitations/accept', ({ token }) => ({ token })),
    signUp: (person: Person) =>
      post(person, '/api/signup', ({ email }) => ({
        name: 'Ada',
        email,
        password: PASSWORD,
        organization_name: 'Their own',
      })),
    found: (person: Person) => signIn(person, { organization_name: 'Their own' }),
    mistype: (person: Person) => signIn(person, { password: 'not the right password' }),
    /** Signs in, leaves, and signs in again. */
    async leave(person: Person): Promise<Outcome> {
      const first = await signIn(person);
      const session = await send(person, 'GET', '/api/session');
      return session.status === 200 ? leave(person) : first;
    },
    /** Continues with a session that was opened before the suspension. */
    async stay(person: Person): Promise<Outcome> {
      const first = await signIn(person);
      if (!first.isIn) return first;
      await person.owner.call('PATCH', `/api/org/members/${person.userId}`, { status: 'suspended' });
      return judge(person, await send(person, 'GET', '/api/account'), (of) => signIn(of));
    },
  } satisfies Record<string, Act>;

  async function leave(person: Person): Promise<Outcome> {
    const answer = await send(person, 'DELETE', '/api/account/membership');
    return answer.status === 204 ? signIn(person) : judge(person, answer, leave);
  }
}

/** The requests that a person in this state would send. */
export function requestsIn(state: State): readonly (keyof Requests)[] {
  if (state.membership === 'suspended_in_session') return ['stay'];
  return [
    ...(state.account === 'none' ? [] : (['signIn'] as const)),
    ...(state.invitation === 'none' ? [] : (['open'] as const)),
    // A person without an account, or one who forgot that they have one.
    ...(!isMember(state) && state.organization === 'open' ? (['signUp'] as const) : []),
    ...((isInside(state) || state.membership === 'suspended') && state.organization === 'open'
      ? (['leave'] as const)
      : []),
    ...(isInside(state) && state.account === 'verified' ? (['found', 'mistype'] as const) : []),
  ];
}

/** The code that the authenticator shows next: each works once. */
export function nextCode(person: Person): string {
  person.codesUsed += 1;
  return codeOf(person.proofs.factorUri, person.codesUsed - 2);
}
