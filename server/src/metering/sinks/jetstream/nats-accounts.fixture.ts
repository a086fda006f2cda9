import { nkeys } from '@nats-io/transport-node';

/** For tests: an operator with one user, as the configuration of a server, and the user's credentials file. */
export function natsAccounts(): { readonly config: string; readonly credentials: string } {
  const [operator, user] = [nkeys.createOperator(), nkeys.createUser()];
  const [system, account] = [nkeys.createAccount(), nkeys.createAccount()];
  const open = { subs: -1, data: -1, payload: -1 };
  const limits = { ...open, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accountToken = (of: nkeys.KeyPair, more: object) =>
    signed(operator, of, { limits: { ...limits, ...more }, type: 'account', version: 2 });
  const config = `
operator: "${signed(operator, operator, { type: 'operator', version: 2 })}"
system_account: "${system.getPublicKey()}"
resolver: MEMORY
resolver_preload: {
  ${system.getPublicKey()}: "${accountToken(system, {})}"
  ${account.getPublicKey()}: "${accountToken(account, storage)}"
}
`;
  const token = signed(account, user, { ...open, type: 'user', version: 2 });
  const seed = new TextDecoder().decode(user.getSeed());
  const credentials = `-----BEGIN NATS USER JWT-----
${token}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
  return { config, credentials };
}

function signed(issuer: nkeys.KeyPair, subject: nkeys.KeyPair, nats: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: 'test',
    nats,
  };
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString('base64url')}`;
}
