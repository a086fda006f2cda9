import { createPrivateKey, hash, X509Certificate } from 'node:crypto';
import type { ClientIdentity } from '../kit/egress/index.ts';
import { Secret } from '../kit/secret.ts';

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const KEY = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[^-]+-----END \1-----/;

/** The certificate, those that vouch for it, and its private key, all as PEM. Null when they are not there or do not belong together. */
export function clientIdentityIn(pem: string): ClientIdentity | null {
  const certificates = pem.match(CERTIFICATES) ?? [];
  const key = KEY.exec(pem)?.[0];
  const [own] = certificates;
  if (own === undefined || key === undefined) return null;
  try {
    if (!new X509Certificate(own).checkPrivateKey(createPrivateKey(key))) return null;
  } catch {
    return null;
  }
  return { id: hash('sha256', pem), certificates: certificates.join('\n'), key: new Secret(key) };
}
