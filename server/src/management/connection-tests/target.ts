import { isIP } from 'node:net';
import type { Kysely } from 'kysely';
import { chooseCredential } from '../../domain/routing/choose-credential.ts';
import type { ProviderExtras } from '../../domain/snapshot.ts';
import { authStyles, fitsStyle } from '../../domain/upstream-auth.ts';
import { parseTargetUrl } from '../../kit/egress/index.ts';
import { type Sealer, UnsealError } from '../../kit/seal.ts';
import type { Secret } from '../../kit/secret.ts';
import type { ProviderAuth } from '../../protocols/upstream-auth/create-upstream-auth.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { placeOf } from '../credentials/secret-place.ts';
import type { Row } from '../resources/rows.ts';
import type { Subject } from './explanations.ts';

/** Where a test goes and how it authenticates. */
export interface Target extends ProviderExtras {
  readonly origin: string;
  readonly pathPrefix: string;
  readonly auth: ProviderAuth;
  readonly secret: Secret | null;
  readonly subject: Omit<Subject, 'called' | 'model'>;
}

export type Unready = 'no_credential' | 'credential_unreadable';

export interface TargetInput {
  readonly provider: Row<'providers'>;
  /** Null for the provider's default, its oldest enabled credential. */
  readonly credentialId: string | null;
  readonly timeoutMs: number;
}

/** The stored provider, with the credential that a request would be sent with. */
export async function targetOf(
  db: Kysely<Database>,
  sealer: Sealer,
  { provider, credentialId, timeoutMs }: TargetInput,
): Promise<Target & { readonly unready: Unready | null }> {
  const url = parseTargetUrl(provider.base_url);
  if (typeof url === 'string') throw new Error(`provider ${provider.id} has an invalid base_url: ${url}`);
  const auth = authOf(provider);
  const { authMode: mode, authHeaderName: headerName } = auth;
  const needsCredential = authStyles[mode].needsSecret;
  const credential = needsCredential ? await credentialOf(db, provider, credentialId) : null;
  const stored = credential === null ? null : opened(sealer, credential);
  // One that was stored for another way to authenticate is not sent in this one.
  const secret = stored !== null && fitsStyle(mode, stored) ? stored : null;
  const unready = credential === null ? 'no_credential' : 'credential_unreadable';
  return {
    origin: url.origin,
    pathPrefix: url.pathPrefix,
    auth,
    presetSlug: provider.preset_slug,
    extraHeaders: provider.extra_headers,
    extraQuery: provider.extra_query,
    secret,
    unready: needsCredential && secret === null ? unready : null,
    subject: {
      hostname: url.hostname,
      host: new URL(url.origin).host,
      isAddress: isIP(url.hostname) !== 0,
      tls: url.origin.startsWith('https:'),
      baseUrl: url.origin + url.pathPrefix,
      needsCredential,
      sentAs: authStyles[mode].sentAs(headerName),
      timeoutMs,
    },
  };
}

function authOf(row: Row<'providers'>): ProviderAuth {
  return {
    authMode: row.auth_mode,
    authHeaderName: row.auth_header_name,
    awsRegion: row.aws_region,
    awsService: row.aws_service,
  };
}

/** The credential that routing would choose, from the stored rows. */
async function credentialOf(
  db: Kysely<Database>,
  provider: Row<'providers'>,
  namedId: string | null,
): Promise<Row<'credentials'> | null> {
  const rows = await db
    .selectFrom('credentials')
    .selectAll()
    .where('organization_id', '=', provider.organization_id)
    .where('provider_id', '=', provider.id)
    .execute();
  const choices = rows.map((row) => ({ ...row, createdAtMs: row.created_at.getTime() }));
  return chooseCredential(choices, namedId);
}

function opened(sealer: Sealer, row: Row<'credentials'>): Secret | null {
  try {
    return sealer.open(row.sealed_secret, secretBinding(placeOf(row)));
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}
