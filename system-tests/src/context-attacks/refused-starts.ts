/** Settings of a hosted deployment with which a process must not start. */
export interface RefusedStart {
  readonly name: string;
  readonly role: 'all' | 'platform' | 'inference';
  readonly over: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const zeros = Buffer.alloc(32).toString('base64');
const letters = Buffer.from('change-me-change-me-to-something').toString('base64');

export const refusedStarts: readonly RefusedStart[] = [
  {
    name: 'an empty secret',
    role: 'platform',
    over: { RELAY_AUTH_SECRET: '' },
    says: /RELAY_AUTH_SECRET is missing/,
  },
  {
    name: 'an empty secret with all roles in one process',
    role: 'all',
    over: { RELAY_AUTH_SECRET: '' },
    says: /RELAY_AUTH_SECRET is missing/,
  },
  {
    name: 'a short secret',
    role: 'platform',
    over: { RELAY_AUTH_SECRET: 'q8Zk3vTq0cPp1xYw7Jm2Rb5' },
    says: /RELAY_AUTH_SECRET must have at least 32/,
  },
  {
    name: 'a placeholder for a secret',
    role: 'platform',
    over: { RELAY_AUTH_SECRET: 'change-me-change-me-change-me-change-me' },
    says: /RELAY_AUTH_SECRET looks like a placeholder/,
  },
  {
    name: 'a platform that cannot sign',
    role: 'platform',
    over: { RELAY_CONTEXT_SIGNING_KEY: '' },
    says: /RELAY_CONTEXT_SIGNING_KEY is missing/,
  },
  {
    name: 'a short signing key',
    role: 'platform',
    over: { RELAY_CONTEXT_SIGNING_KEY: 'c2hvcnQ=' },
    says: /RELAY_CONTEXT_SIGNING_KEY must be 32 bytes/,
  },
  {
    name: 'a signing key of zeros',
    role: 'platform',
    over: { RELAY_CONTEXT_SIGNING_KEY: zeros },
    says: /RELAY_CONTEXT_SIGNING_KEY looks like a placeholder/,
  },
  {
    name: 'a signing key of letters',
    role: 'platform',
    over: { RELAY_CONTEXT_SIGNING_KEY: letters },
    says: /RELAY_CONTEXT_SIGNING_KEY looks like a placeholder/,
  },
  {
    name: 'a platform without inference',
    role: 'platform',
    over: { RELAY_INFERENCE_URL: '' },
    says: /RELAY_INFERENCE_URL is missing/,
  },
  {
    name: 'inference that trusts nobody',
    role: 'inference',
    over: { RELAY_CONTEXT_VERIFY_KEYS: '' },
    says: /RELAY_CONTEXT_VERIFY_KEYS is missing/,
  },
  {
    name: 'inference that trusts a short key',
    role: 'inference',
    over: { RELAY_CONTEXT_VERIFY_KEYS: 'c2hvcnQ=' },
    says: /RELAY_CONTEXT_VERIFY_KEYS must be 32 bytes/,
  },
  {
    name: 'inference that trusts a key of zeros',
    role: 'inference',
    over: { RELAY_CONTEXT_VERIFY_KEYS: zeros },
    says: /RELAY_CONTEXT_VERIFY_KEYS looks like a placeholder/,
  },
  {
    name: 'inference that trusts a key for which anybody can sign',
    role: 'inference',
    over: { RELAY_CONTEXT_VERIFY_KEYS: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05' },
    says: /RELAY_CONTEXT_VERIFY_KEYS has an entry that is not a public key/,
  },
];
