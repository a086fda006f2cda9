import { type Kysely, sql } from 'kysely';
import { parseGuardrailUrl, withoutQuery } from '../../domain/guardrails/url.ts';
import { targetUrlProblems } from '../../kit/egress/target-url.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField } from '../resources/refusals.ts';

export interface WantedTarget {
  readonly kind: 'webhook' | 'mail';
  readonly url: string | null;
  readonly address: string | null;
  readonly secret: string | undefined;
}

/** Where alerts go, as it is stored. Throws 400 for a target that does not fit the kind or may not be called. */
export async function demandTarget(
  deps: Pick<ManagementDeps, 'egress' | 'mail' | 'deployment'>,
  tx: Kysely<Database>,
  organizationId: string,
  { kind, url, address, secret }: WantedTarget,
): Promise<{ url: string | null; address: string | null }> {
  if (kind === 'webhook') {
    if (address !== null) throw invalidField('address', 'address must be null or omitted for a webhook.');
    if (url === null) throw invalidField('url', 'url is required for a webhook.');
    return { url: checkedUrl(deps, url), address };
  }
  if (url !== null) throw invalidField('url', 'url must be null or omitted for mail.');
  if (secret !== undefined)
    throw invalidField('secret', 'secret must be omitted for mail: it signs webhooks.');
  if (address === null) throw invalidField('address', 'address must be an email address.');
  if (deps.mail === null)
    throw invalidField(
      'kind',
      'kind must be "webhook": this deployment has no mail server. Set RELAY_SMTP_URL first.',
    );
  // Anyone can sign up for a hosted deployment, which must not send mail to strangers for them.
  if (deps.deployment.mode === 'hosted' && !(await isMember(tx, organizationId, address)))
    throw invalidField('address', 'address must belong to a member of the organization.');
  return { url, address };
}

function checkedUrl({ egress }: Pick<ManagementDeps, 'egress'>, text: string): string {
  const target = egress.check(withoutQuery(text));
  if (typeof target === 'string') throw invalidField('url', `url ${targetUrlProblems[target]}.`);
  const url = parseGuardrailUrl(text);
  if (url === 'invalid')
    throw invalidField(
      'url',
      'url must not contain a fragment, and its query must contain only plain names and values.',
    );
  return url.origin + url.path;
}

async function isMember(tx: Kysely<Database>, organizationId: string, address: string): Promise<boolean> {
  const found = await tx
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .select('users.id')
    .where('organization_members.organization_id', '=', organizationId)
    .where(sql`lower(users.email)`, '=', address.toLowerCase())
    .executeTakeFirst();
  return found !== undefined;
}
