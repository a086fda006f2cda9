import { isIP } from 'node:net';
import type { Kysely } from 'kysely';
import { parseTargetUrl } from '../../kit/egress/index.ts';
import { type Sealer, UnsealError } from '../../kit/seal.ts';
import type { Secret } from '../../kit/secret.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { placeOf } from '../credentials/sealed-secret.ts';
import type { Row } from '../owned-rows.ts';
import type { Subject } from './explanations.ts';

/** Where a test goes and what it carries. */
export interface Target {
  readonly origin: string;
  readonly pathPrefix: string;
  readonly headers: readonly string[];
  readonly secret: Secret | null;
  readonly subject: Omit<Subject, 'path' | 'model'>;
}

export type Unready = 'no_credential' | 'credential_unreadable';

export interface TargetInput {
  readonly provider: Row<'providers'>;
  /** Null: the provider's own, which is its oldest enabled one. */
  readonly credentialId: string | null;
  readonly timeoutMs: number;
}

/** What is stored of the provider, with the credential that a request would be sent with. */
export async function targetOf(
  db: Kysely<Database>,
  sealer: Sealer,
  { provider, credentialId, timeoutMs }: TargetInput,
): Promise<Target & { readonly unready: Unready | null }> {
  const url = parseTargetUrl(provider.base_url);
  if (typeof url === 'string') throw new Error(`provider ${provider.id} has a base_url that is ${url}`);
  const needsCredential = provider.auth_mode !== 'none';
  const credential = needsCredential ? await credentialOf(db, provider, credentialId) : undefined;
  const secret = credential === undefined ? null : opened(sealer, credential);
  const header = provider.auth_mode === 'bearer_static' ? 'authorization' : (provider.auth_header_name ?? '');
  const unready = credential === undefined ? 'no_credential' : 'credential_unreadable';
  return {
    origin: url.origin,
    pathPrefix: url.pathPrefix,
    secret,
    headers: secret === null ? [] : [header, sentAs(provider, secret)],
    unready: needsCredential && secret === null ? unready : null,
    subject: {
      hostname: url.hostname,
      isAddress: isIP(url.hostname) !== 0,
      tls: url.origin.startsWith('https:'),
      baseUrl: provider.base_url,
      needsCredential,
      sentAs: header === 'authorization' ? '"Authorization: Bearer …"' : `the header "${header}"`,
      timeoutMs,
    },
  };
}

function sentAs({ auth_mode }: Row<'providers'>, secret: Secret): string {
  return auth_mode === 'bearer_static' ? `Bearer ${secret.reveal()}` : secret.reveal();
}

/** The same choice that routing makes. */
function credentialOf(
  db: Kysely<Database>,
  provider: Row<'providers'>,
  credentialId: string | null,
): Promise<Row<'credentials'> | undefined> {
  return db
    .selectFrom('credentials')
    .selectAll()
    .where('organization_id', '=', provider.organization_id)
    .where('provider_id', '=', provider.id)
    .where('enabled', '=', true)
    .$if(credentialId !== null, (query) => query.where('id', '=', credentialId))
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

function opened(sealer: Sealer, row: Row<'credentials'>): Secret | null {
  try {
    return sealer.open(row.sealed_secret, secretBinding(placeOf(row)));
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}
