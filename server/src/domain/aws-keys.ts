import { parseObject } from '../kit/json-value.ts';

/** An access key of AWS, as a credential stores it. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken: string | null;
}

/** Where a signature is valid. */
export interface AwsScope {
  readonly region: string;
  readonly service: string;
}

const VISIBLE = /^[\x21-\x7e]+$/;

/** The keys in the JSON of a credential; null when it has none that can be used. */
export function awsKeysIn(secret: string): AwsKeys | null {
  const { access_key_id, secret_access_key, session_token = null } = parseObject(secret) ?? {};
  if (!isVisible(access_key_id) || !isVisible(secret_access_key)) return null;
  if (session_token !== null && !isVisible(session_token)) return null;
  return { accessKeyId: access_key_id, secretAccessKey: secret_access_key, sessionToken: session_token };
}

/** `SERVICE.REGION.amazonaws.com`, with or without FIPS, an interface endpoint of a VPC, or China. */
const AWS_HOST =
  /(?:^|\.)([a-z0-9-]+?)(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

const SERVICE_DEFAULT = 'bedrock';
/** Several hosts of Bedrock share one name in signatures. Others, such as bedrock-mantle, have their own. */
const SIGNED_AS_BEDROCK: ReadonlySet<string> = new Set([
  'bedrock',
  'bedrock-runtime',
  'bedrock-agent',
  'bedrock-agent-runtime',
]);

/** What the provider says, else what its host name does; null when neither names a region. */
export function awsScopeOf(
  named: { readonly awsRegion: string | null; readonly awsService: string | null },
  hostname: string,
): AwsScope | null {
  const [, host, hostRegion] = AWS_HOST.exec(hostname) ?? [];
  const hostService = host !== undefined && SIGNED_AS_BEDROCK.has(host) ? 'bedrock' : host;
  const region = named.awsRegion ?? hostRegion;
  const service = named.awsService ?? hostService ?? SERVICE_DEFAULT;
  return region === undefined ? null : { region, service };
}

function isVisible(value: unknown): value is string {
  return typeof value === 'string' && VISIBLE.test(value);
}
