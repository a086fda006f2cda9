import { parseTargetUrl, type TargetUrl } from '../kit/egress/target-url.ts';
import { parseObject } from '../kit/json-value.ts';

/** A service account of Google, from the JSON file that Google issues for its key. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKeyId: string | null;
  /** PKCS #8, as PEM. */
  readonly privateKey: string;
  readonly tokenUri: string;
  /** Where `tokenUri` leads. What it resolves to is checked when Relay connects, as for every upstream. */
  readonly target: TargetUrl;
}

const PKCS8 = /^-----BEGIN PRIVATE KEY-----\s[\sA-Za-z0-9+/=]+-----END PRIVATE KEY-----\s*$/;

/** Null when the text is not such a file. */
export function serviceAccountIn(secret: string): ServiceAccount | null {
  const { type, client_email, private_key, private_key_id, token_uri } = parseObject(secret) ?? {};
  if (type !== 'service_account' || typeof client_email !== 'string' || client_email === '') return null;
  if (typeof private_key !== 'string' || !PKCS8.test(private_key)) return null;
  if (typeof token_uri !== 'string') return null;
  const target = parseTargetUrl(token_uri);
  if (typeof target === 'string') return null;
  return {
    clientEmail: client_email,
    privateKeyId: typeof private_key_id === 'string' ? private_key_id : null,
    privateKey: private_key,
    tokenUri: token_uri,
    target,
  };
}
