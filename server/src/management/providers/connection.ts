import type { Provider } from '@relay/contract';
import { awsScopeOf } from '../../domain/aws-keys.ts';
import type { Egress } from '../../kit/egress/index.ts';
import { providerPresetOf } from '../../protocols/provider-presets.ts';
import { invalidField } from '../resources/refusals.ts';
import { checkedBaseUrl, demandAuthHeader } from '../resources/upstream-address.ts';
import { checkedHeaders, checkedQuery } from './extras.ts';

/** How a provider is reached. The preset has filled in what was left out. */
export type Connection = Pick<
  Provider,
  | 'auth_mode'
  | 'auth_header_name'
  | 'aws_region'
  | 'aws_service'
  | 'extra_headers'
  | 'extra_query'
  | 'preset_slug'
> & { readonly base_url: string | null };

/** The connection as it is stored, without a query in its URL. Throws 400 when it cannot be used. */
export function checkedConnection(egress: Pick<Egress, 'check'>, given: Connection) {
  demandAuthHeader(given.auth_mode, given.auth_header_name);
  if (given.base_url === null) throw invalidField('base_url', MISSING_URL);
  const [address, inUrl] = splitQuery(given.base_url);
  const baseUrl = checkedBaseUrl(egress, address);
  demandAwsRegion(given, baseUrl);
  demandTls(given, baseUrl);
  return {
    base_url: baseUrl,
    auth_mode: given.auth_mode,
    auth_header_name: given.auth_header_name,
    aws_region: given.aws_region,
    aws_service: given.aws_service,
    extra_headers: checkedHeaders(given.extra_headers, given),
    extra_query: checkedQuery({ ...given.extra_query, ...inUrl }),
    preset_slug: given.preset_slug === '' ? null : given.preset_slug,
  };
}

function demandAwsRegion({ auth_mode, aws_region, aws_service }: Connection, baseUrl: string): void {
  if (auth_mode !== 'aws_sigv4') return;
  const named = { awsRegion: aws_region, awsService: aws_service };
  if (awsScopeOf(named, new URL(baseUrl).hostname) !== null) return;
  throw invalidField(
    'aws_region',
    'auth_mode aws_sigv4 needs aws_region, because the host name of base_url does not contain a region.',
  );
}

function demandTls({ auth_mode }: Connection, baseUrl: string): void {
  if (auth_mode !== 'client_certificate' || baseUrl.startsWith('https:')) return;
  throw invalidField('base_url', 'base_url must start with https:// for auth_mode client_certificate.');
}

const MISSING_URL =
  'base_url is missing. Send the URL of the provider, or the preset_slug of a preset that has one.';

/** A preset that does not exist would change nothing, without a sign of it. */
export function demandKnownPreset(presetSlug: string | null): void {
  if (presetSlug === null || presetSlug === '' || providerPresetOf(presetSlug) !== undefined) return;
  throw invalidField(
    'preset_slug',
    `No preset is named "${presetSlug}". Send a preset_slug that GET /api/relay/provider-presets lists, or null.`,
  );
}

/** What the URL says wins over a preset's or the stored parameters. Only plain queries are taken apart; the check of the URL rejects any other. */
function splitQuery(baseUrl: string): [string, Record<string, string>] {
  const at = baseUrl.search(/\?[\w.~%=&+-]+$/);
  if (at === -1) return [baseUrl, {}];
  return [baseUrl.slice(0, at), Object.fromEntries(new URLSearchParams(baseUrl.slice(at)))];
}
