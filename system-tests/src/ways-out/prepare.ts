import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Query } from '../harness/accounts.ts';
import { type AdminClient, adminClient } from '../harness/admin-client.ts';
import { type Browser, createBrowser } from '../harness/browser.ts';
import type { Proofs, Site } from './site.ts';
import { isMember, isSso, type State } from './states.ts';

/** A person in a state, with the organization that invites them and the owner whom they can ask. */
export interface Person {
  readonly site: Site;
  readonly state: State;
  readonly proofs: Proofs;
  readonly userId: string;
  readonly email: string;
  readonly subject: string;
  readonly organizationId: string;
  /** Another organization of theirs. */
  readonly elsewhereId: string;
  readonly fillerId: string;
  readonly owner: AdminClient;
  readonly browser: Browser;
  /** From a client of their own: attempts are counted for each. */
  readonly headers: Readonly<Record<string, string>>;
  /** The token of the newest invitation whose link they have. */
  token: string;
  codesUsed: number;
}

const DAY_MS = 86_400_000;
const IMPLICIT = '00000000-0000-7000-8000-000000000001';
const PLANS = { open: 'team', closed: 'closed', full: 'free' } as const;
let prepared = 0;

/** Writes the state to the database: a new person, and in a hosted deployment a new organization. */
export async function prepare(site: Site, proofs: Proofs, state: State): Promise<Person> {
  prepared += 1;
  const isHosted = state.mode === 'hosted';
  const token = randomBytes(32).toString('base64url');
  const ids = {
    userId: randomUUIDv7(),
    organizationId: isHosted ? randomUUIDv7() : IMPLICIT,
    elsewhereId: randomUUIDv7(),
    ownerId: randomUUIDv7(),
    fillerId: randomUUIDv7(),
  };
  const email = `person-${prepared}@example.com`;
  const subject = `subject-${prepared}`;
  await site.accounts.atOnce(async (query) => {
    if (isHosted) await addOrganizations(query, state, ids);
    else await addUser(query, ids.fillerId);
    await addMember(query, ids.organizationId, ids.fillerId, 'viewer');
    if (state.account !== 'none') await addAccount(query, site, proofs, state, { ...ids, email, subject });
    await addMembership(query, state, ids);
    if (state.invitation !== 'none') await addInvitation(query, state, ids.organizationId, email, token);
  });
  if (!isHosted && isMember(state)) {
    // The process knows this organization already.
    await site.accounts.changed(ids.organizationId);
    await site.deployment.everywhere();
  }
  const key = await site.operatorKey(ids.organizationId, ids.ownerId);
  return {
    ...ids,
    site,
    state,
    proofs,
    email,
    subject,
    token: state.invitation === 'none' ? '' : token,
    owner: adminClient(site.deployment.url, key),
    browser: createBrowser(),
    headers: { 'x-forwarded-for': `203.0.${prepared >> 8}.${prepared & 255}` },
    codesUsed: 0,
  };
}

type Ids = Pick<Person, 'userId' | 'organizationId' | 'elsewhereId' | 'fillerId'> & {
  readonly ownerId: string;
};

async function addOrganizations(query: Query, { organization, membership }: State, ids: Ids): Promise<void> {
  const insert = (id: string, plan: string) =>
    query('insert into organizations (id, name, slug, plan) values ($1, $2, $3, $4)', [
      id,
      'Acme',
      `org-${id}`,
      plan,
    ]);
  await insert(ids.organizationId, PLANS[organization]);
  await addUser(query, ids.ownerId);
  await addUser(query, ids.fillerId);
  // The last owner is the person.
  await addMember(query, ids.organizationId, ids.ownerId, membership === 'last_owner' ? 'admin' : 'owner');
  if (organization === 'full') {
    const third = randomUUIDv7();
    await addUser(query, third);
    await addMember(query, ids.organizationId, third, 'viewer');
  }
  if (membership === 'suspended_but_elsewhere') {
    await insert(ids.elsewhereId, 'team');
    await addMember(query, ids.elsewhereId, ids.ownerId, 'owner');
  }
}

function addUser(query: Query, id: string) {
  return query('insert into users (id, name, email) values ($1, $2, $3)', [id, 'Grace', `${id}@example.com`]);
}

function addMember(query: Query, organizationId: string, userId: string, role: string, status = 'active') {
  const text =
    'insert into organization_members (organization_id, user_id, role, status) values ($1, $2, $3, $4)';
  return query(text, [organizationId, userId, role, status]);
}

async function addAccount(
  query: Query,
  site: Site,
  proofs: Proofs,
  state: State,
  { userId, email, subject }: Pick<Person, 'userId' | 'email' | 'subject'>,
): Promise<void> {
  const { account } = state;
  await query(
    `insert into users (id, name, email, status, email_verified, two_factor_enabled) values ($1, 'Ada', $2, $3, $4, $5)`,
    [
      userId,
      email,
      account === 'suspended' ? 'suspended' : 'active',
      account !== 'unverified',
      account === 'second_factor',
    ],
  );
  const hasPassword = !isSso(state);
  await query(
    'insert into auth_accounts (id, user_id, provider_id, account_id, password) values ($1, $2, $3, $4, $5)',
    [
      randomUUIDv7(),
      userId,
      hasPassword ? 'credential' : `oidc:${site.issuer}`,
      hasPassword ? userId : subject,
      hasPassword ? proofs.passwordHash : null,
    ],
  );
  if (account !== 'second_factor') return;
  await query(
    'insert into auth_two_factors (id, user_id, secret, backup_codes, verified) values ($1, $2, $3, $4, true)',
    [randomUUIDv7(), userId, proofs.factorSecret, proofs.backupCodes],
  );
}

async function addMembership(query: Query, { membership }: State, ids: Ids): Promise<void> {
  const { userId, organizationId } = ids;
  if (membership === 'never') return;
  const role = membership === 'last_owner' ? 'owner' : 'viewer';
  const isSuspended = membership === 'suspended' || membership === 'suspended_but_elsewhere';
  await addMember(query, organizationId, userId, role, isSuspended ? 'suspended' : 'active');
  if (membership === 'suspended_but_elsewhere') await addMember(query, ids.elsewhereId, userId, 'viewer');
  if (membership === 'removed')
    await query('delete from organization_members where organization_id = $1 and user_id = $2', [
      organizationId,
      userId,
    ]);
}

async function addInvitation(
  query: Query,
  { invitation }: State,
  organizationId: string,
  email: string,
  token: string,
): Promise<void> {
  const expiresAt = new Date(Date.now() + (invitation === 'expired' ? -1 : 1) * DAY_MS);
  await query(
    `insert into invitations (organization_id, id, email, role, token_hash, expires_at, revoked_at)
     values ($1, $2, $3, 'developer', $4, $5, $6)`,
    [
      organizationId,
      randomUUIDv7(),
      email,
      createHash('sha256').update(token).digest(),
      expiresAt,
      invitation === 'withdrawn' ? new Date() : null,
    ],
  );
}
