import { randomBytes } from 'node:crypto';
import { headers as headerNames, routes } from '@relay/contract';
import type { Accounts, Plan, Role } from '../../harness/accounts.ts';
import { type Column, type Entry, type ImplicitOwner, newSuffix } from './columns.ts';
import type { Caller } from './expected.ts';
import { send } from './send.ts';
import { allHeaders, type SignedIn, signIn, signUp } from './sign-in.ts';

const MOVE_MS_MAX = 10_000;

/** A person who signed up in a browser, in the role and on the plan that the column is about. */
function sessionColumn(
  name: string,
  { role, ...rest }: Partial<Caller> & { readonly role: Role },
  headersOf: (signedIn: SignedIn) => Entry['headers'] = allHeaders,
): Column {
  return {
    except: sessionAnswers,
    ...rest,
    name,
    role,
    kind: 'session',
    granted: null,
    plan: 'enterprise',
    async enter({ accounts, url }) {
      const signedIn = await signUp(url);
      const organizationId = signedIn.session.org.id;
      await moveTo({ accounts, url }, signedIn, { role, plan: 'enterprise' });
      return { organizationId, callerId: signedIn.session.user.id, headers: headersOf(signedIn), suffix: '' };
    },
  };
}

/** Only the authenticator's code is valid, and the session to end belongs to another member. */
const sessionAnswers = {
  confirmTotp: '401 invalid_credentials',
  revokeSession: '404 not_found',
  /** The session has ended just before. */
  leaveOrganization: '401 session_expired',
};

export const sessionColumns: readonly Column[] = [
  sessionColumn('session of an owner', { role: 'owner' }),
  sessionColumn('session of a viewer', { role: 'viewer' }),
  sessionColumn(
    'session without the CSRF token',
    { role: 'owner', refusedWrites: '403 csrf_failed' },
    ({ cookie }) => ({ cookie }),
  ),
  sessionColumn(
    'session with the CSRF token of another',
    { role: 'owner', refusedWrites: '403 csrf_failed' },
    ({ cookie }) => ({ cookie, [headerNames.csrfToken]: randomBytes(32).toString('base64url') }),
  ),
  sessionColumn(
    'session that never was',
    { role: 'owner', refused: '401 session_expired' },
    ({ cookie }) => ({
      cookie: cookie.replace(/=.*/, `=${randomBytes(32).toString('base64url')}`),
    }),
  ),
];

/** The operator at the console, who has no password to change and no organization to switch to. */
export function adminSessionColumn(adminToken: string, owner: ImplicitOwner, accounts: boolean): Column {
  const none = '409 conflict';
  const disabled = '403 accounts_disabled';
  return {
    name: 'session of the admin token',
    kind: 'session',
    granted: null,
    role: 'owner',
    plan: 'self_hosted',
    except: {
      revokeSession: '404 not_found',
      updateSession: accounts ? '200' : disabled,
      changePassword: accounts ? none : disabled,
      changeEmail: accounts ? none : disabled,
      startTotp: accounts ? none : disabled,
      confirmTotp: accounts ? none : disabled,
      removeTotp: accounts ? none : disabled,
      leaveOrganization: '401 session_expired',
    },
    async enter({ url }) {
      const signedIn = await signIn(url, '/api/session', { token: adminToken });
      return { ...owner, headers: allHeaders(signedIn), suffix: newSuffix() };
    },
  };
}

/** The server learns of a change in the database a moment later; what it then makes of it is for the cells to show. */
async function moveTo(
  { accounts, url }: { accounts: Accounts; url: string },
  { session, cookie }: SignedIn,
  { role, plan }: { role: Role; plan: Plan },
): Promise<void> {
  const scopes = () =>
    send(url, routes.getCapabilities, {}, { cookie }).then(({ body }) => JSON.stringify(body));
  const before = await scopes();
  await accounts.atOnce(async (query) => {
    await query('update organizations set plan = $2 where id = $1', [session.org.id, plan]);
    await query('update organization_members set role = $2 where organization_id = $1', [
      session.org.id,
      role,
    ]);
  });
  await accounts.changed(session.org.id);
  const deadlineMs = performance.now() + MOVE_MS_MAX;
  while ((await scopes()) === before) {
    if (performance.now() > deadlineMs) throw new Error(`${role} on ${plan} may do no more than before`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
