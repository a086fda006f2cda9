import { generateKeyPairSync } from 'node:crypto';

/** A service account of Google's kind, with a key of its own. */
export interface MadeAccount {
  readonly keyId: string;
  readonly email: string;
  /** PEM. */
  readonly publicKey: string;
  /** The file that Google would issue, which is the secret of a credential. */
  secret(tokenUri: string): string;
}

export function makeServiceAccount(keyId: string): MadeAccount {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const email = 'relay@project.iam.gserviceaccount.com';
  return {
    keyId,
    email,
    publicKey,
    secret: (tokenUri) =>
      JSON.stringify(
        {
          type: 'service_account',
          project_id: 'project',
          private_key_id: keyId,
          private_key: privateKey,
          client_email: email,
          token_uri: tokenUri,
        },
        null,
        2,
      ),
  };
}
