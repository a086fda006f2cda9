import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { EnvironmentError, readEnvironment } from './environment.ts';
import type { RoleName } from './roles.ts';

const good = {
  DATABASE_URL: 'postgres://localhost/relay',
  REDIS_URL: 'redis://localhost:6379',
  RELAY_API_TOKEN: 'q8Zk3vTq0cPp1xYw7Jm2Rb5Ld9Ns4Gh6',
  RELAY_ADMIN_TOKEN: 'h2Vx9Kd4Bn7Mq1Zt6Wp3Rj8Lc5Fs0Yg2',
  RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
};

function faultsOf(over: Record<string, string>, role?: RoleName): string {
  try {
    readEnvironment({ ...good, ...over }, role);
  } catch (error) {
    assert.ok(error instanceof EnvironmentError);
    return error.message;
  }
  return '';
}

describe('environment', () => {
  it('fills in what has a default', () => {
    const environment = readEnvironment(good);
    assert.deepEqual(environment.RELAY_HTTP_ADDR, { host: '127.0.0.1', port: 8080 });
    assert.equal(environment.RELAY_MODE, 'self_hosted');
    assert.deepEqual(environment.RELAY_ALLOW_PRIVATE_NETWORKS, []);
  });

  it('takes a configuration file by its absolute path, in self-hosted deployments alone', () => {
    assert.equal(faultsOf({ RELAY_CONFIG: '/etc/relay/relay.yaml' }), '');
    assert.match(faultsOf({ RELAY_CONFIG: 'relay.yaml' }), /RELAY_CONFIG must be an absolute path/);
    const hosted = { RELAY_MODE: 'hosted', RELAY_AUTH_SECRET: good.RELAY_API_TOKEN };
    assert.equal(faultsOf(hosted), '');
    assert.match(
      faultsOf({ ...hosted, RELAY_CONFIG: '/etc/relay/relay.yaml' }),
      /RELAY_CONFIG is for self-hosted/,
    );
  });

  it('takes a random token that begins like a placeholder', () => {
    const random = 'Xf3kP9qLmZ2vB7nR4tY8wC1dG6hJ5sA0eU_oIxEaQk';
    for (const beginning of ['xXx', 'yOuR', 'TeSt'])
      assert.equal(faultsOf({ RELAY_API_TOKEN: `${beginning}${random}` }), '', beginning);
    for (const beginning of ['xxxxxxxx', 'your-token-', 'test_'])
      assert.match(faultsOf({ RELAY_API_TOKEN: `${beginning}${random}` }), /placeholder/, beginning);
  });

  it('takes the origins of pages exactly, and no wildcard', () => {
    const read = (value: string) =>
      readEnvironment({ ...good, RELAY_CORS_ORIGINS: value }).RELAY_CORS_ORIGINS;
    assert.deepEqual(read(''), []);
    assert.deepEqual(read('HTTPS://App.example.com:443/, http://localhost:5173'), [
      'https://app.example.com',
      'http://localhost:5173',
    ]);
    const page = 'https://app.example.com';
    for (const bad of [
      '*',
      'null',
      'app.example.com',
      `${page}/x`,
      `${page},*`,
      'file:///x',
      'https://u:p@a.com',
    ])
      assert.match(
        faultsOf({ RELAY_CORS_ORIGINS: bad }),
        /RELAY_CORS_ORIGINS (?:does not support wildcards|has an entry)/,
      );
  });

  it('names every fault in one message', () => {
    try {
      readEnvironment({ RELAY_MODE: 'both', RELAY_HTTP_ADDR: 'nowhere' });
      assert.fail('was accepted');
    } catch (error) {
      const names = (error as Error).message.match(/[A-Z]+_[A-Z_]+(?= is| must)/g);
      assert.deepEqual(names?.sort(), [
        'DATABASE_URL',
        'REDIS_URL',
        'RELAY_HTTP_ADDR',
        'RELAY_MASTER_KEY',
        'RELAY_MODE',
      ]);
    }
  });

  const refused: [string, Record<string, string>, RegExp][] = [
    ['a short token', { RELAY_API_TOKEN: 'short' }, /at least 32/],
    ['a placeholder token', { RELAY_API_TOKEN: 'changeme-changeme-changeme-changeme' }, /placeholder/],
    ['a token of one character', { RELAY_API_TOKEN: 'z'.repeat(40) }, /placeholder/],
    ['a token with a space', { RELAY_API_TOKEN: `${good.RELAY_API_TOKEN} x` }, /printable/],
    [
      'an API token of the form of a key',
      { RELAY_API_TOKEN: `rly_${good.RELAY_API_TOKEN}` },
      /must not begin with rly_/,
    ],
    ['equal tokens', { RELAY_API_TOKEN: good.RELAY_ADMIN_TOKEN }, /must differ/],
    ['a token for metrics that opens more', { RELAY_METRICS_TOKEN: good.RELAY_ADMIN_TOKEN }, /must differ/],
    ['an empty token', { RELAY_API_TOKEN: '' }, /RELAY_API_TOKEN is missing/],
    ['an empty master key', { RELAY_MASTER_KEY: '' }, /RELAY_MASTER_KEY is missing/],
    ['a short master key', { RELAY_MASTER_KEY: 'c2hvcnQ=' }, /RELAY_MASTER_KEY must be 32 bytes/],
    ['a spool without a place', { RELAY_SPOOL_DIR: 'spool' }, /absolute path/],
    ['a network that is none', { RELAY_ALLOW_PRIVATE_NETWORKS: '10.0.0.0/8, loopback' }, /"loopback"/],
    ['a number out of range', { RELAY_MAX_BODY_BYTES: '0' }, /whole number/],
    ['a key to Stripe', { RELAY_STRIPE_WEBHOOK_SECRET: 'sk_live_0123456789abcdef' }, /whsec_/],
    ['a port out of range', { RELAY_HTTP_ADDR: '127.0.0.1:70000' }, /host:port/],
  ];
  for (const [what, over, expected] of refused)
    it(`refuses ${what}`, () => assert.match(faultsOf(over), expected));

  const pair = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, publicKey] = [String(pair.d), String(pair.x)];
  const hosted = {
    RELAY_MODE: 'hosted',
    RELAY_API_TOKEN: '',
    RELAY_ADMIN_TOKEN: '',
    RELAY_AUTH_SECRET: 'p4Tn8Vb2Xc6Mz0Qw5Er9Ty3Ui7Op1As5',
    RELAY_INFERENCE_URL: 'http://inference:8080',
    RELAY_CONTEXT_SIGNING_KEY: seed,
    RELAY_CONTEXT_VERIFY_KEYS: publicKey,
  };

  it('takes a hosted deployment in every role, and asks each for no more than it needs', () => {
    const without = (...names: (keyof typeof hosted)[]) =>
      Object.fromEntries(
        Object.entries(hosted).map(([name, value]) => [
          name,
          names.includes(name as keyof typeof hosted) ? '' : value,
        ]),
      );
    const context = [
      'RELAY_INFERENCE_URL',
      'RELAY_CONTEXT_SIGNING_KEY',
      'RELAY_CONTEXT_VERIFY_KEYS',
    ] as const;
    assert.equal(faultsOf(without(...context), 'all'), '');
    assert.equal(faultsOf(without('RELAY_CONTEXT_VERIFY_KEYS'), 'platform'), '');
    assert.equal(
      faultsOf(without('RELAY_AUTH_SECRET', 'RELAY_INFERENCE_URL', 'RELAY_CONTEXT_SIGNING_KEY'), 'inference'),
      '',
    );
    assert.equal(faultsOf(without('RELAY_AUTH_SECRET', ...context), 'worker'), '');
    const environment = readEnvironment(
      { ...good, ...hosted, RELAY_INFERENCE_URL: 'https://inference.internal/' },
      'platform',
    );
    assert.equal(environment.RELAY_INFERENCE_URL, 'https://inference.internal');
    assert.equal(environment.RELAY_CONTEXT_VERIFY_KEYS[0]?.toString('base64url'), publicKey);
  });

  const zeros = Buffer.alloc(32).toString('base64');
  const refusedByRole: [string, RoleName, Record<string, string>, RegExp][] = [
    ['a platform without a secret', 'platform', { RELAY_AUTH_SECRET: '' }, /RELAY_AUTH_SECRET is missing/],
    [
      'all roles in one process without a secret',
      'all',
      { RELAY_AUTH_SECRET: '' },
      /RELAY_AUTH_SECRET is missing/,
    ],
    ['a short secret', 'platform', { RELAY_AUTH_SECRET: 'short' }, /RELAY_AUTH_SECRET must have at least 32/],
    [
      'a placeholder for the secret',
      'platform',
      { RELAY_AUTH_SECRET: 'changeme-changeme-changeme-changeme' },
      /placeholder/,
    ],
    [
      'a platform that does not know where inference is',
      'platform',
      { RELAY_INFERENCE_URL: '' },
      /RELAY_INFERENCE_URL is missing/,
    ],
    [
      'an address of inference with a path',
      'platform',
      { RELAY_INFERENCE_URL: 'http://inference/v1' },
      /without a path/,
    ],
    [
      'an address of inference with a password',
      'platform',
      { RELAY_INFERENCE_URL: 'http://a:b@inference' },
      /without a path/,
    ],
    [
      'a platform without a signing key',
      'platform',
      { RELAY_CONTEXT_SIGNING_KEY: '' },
      /RELAY_CONTEXT_SIGNING_KEY is missing/,
    ],
    ['a short signing key', 'platform', { RELAY_CONTEXT_SIGNING_KEY: 'c2hvcnQ=' }, /must be 32 bytes/],
    [
      'a signing key with rubbish in it',
      'platform',
      { RELAY_CONTEXT_SIGNING_KEY: `${seed}!` },
      /must be 32 bytes/,
    ],
    ['a signing key of zeros', 'platform', { RELAY_CONTEXT_SIGNING_KEY: zeros }, /placeholder/],
    [
      'a signing key of letters',
      'platform',
      { RELAY_CONTEXT_SIGNING_KEY: Buffer.from('change-me-change-me-to-something').toString('base64') },
      /placeholder/,
    ],
    [
      'inference without verify keys',
      'inference',
      { RELAY_CONTEXT_VERIFY_KEYS: ' , ' },
      /RELAY_CONTEXT_VERIFY_KEYS is missing/,
    ],
    [
      'a short public key',
      'inference',
      { RELAY_CONTEXT_VERIFY_KEYS: `${publicKey},c2hvcnQ=` },
      /must be 32 bytes/,
    ],
    ['a public key of zeros', 'inference', { RELAY_CONTEXT_VERIFY_KEYS: zeros }, /placeholder/],
    [
      'a public key for which anybody can sign',
      'inference',
      { RELAY_CONTEXT_VERIFY_KEYS: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa' },
      /not a public key/,
    ],
    [
      'the signing key among the public keys',
      'platform',
      { RELAY_CONTEXT_VERIFY_KEYS: seed },
      /contains the signing key/,
    ],
  ];
  for (const [what, role, over, expected] of refusedByRole)
    it(`refuses ${what} in hosted mode`, () =>
      assert.match(faultsOf({ ...hosted, ...over }, role), expected));

  it('refuses accounts without a secret in self-hosted mode', () =>
    assert.match(faultsOf({ RELAY_ACCOUNTS: 'true' }), /RELAY_AUTH_SECRET is missing/));

  it('never shows a secret in a message', () => {
    const key = randomBytes(20).toString('base64');
    assert.doesNotMatch(faultsOf({ RELAY_MASTER_KEY: key }), new RegExp(key.replaceAll(/[+/=]/g, '.')));
  });

  it('reads IPv6 and open listen addresses', () => {
    assert.deepEqual(readEnvironment({ ...good, RELAY_HTTP_ADDR: '[::1]:9000' }).RELAY_HTTP_ADDR, {
      host: '::1',
      port: 9000,
    });
    assert.equal(readEnvironment({ ...good, RELAY_HTTP_ADDR: ':9000' }).RELAY_HTTP_ADDR.host, '0.0.0.0');
  });

  const { DATABASE_URL: _database, REDIS_URL: _redis, ...alone } = good;
  const embedded = (over: Record<string, string>) =>
    readEnvironment({ ...alone, ...over }, 'all', 'embedded');

  it('asks a process that is the whole deployment for no server', () => {
    assert.equal(embedded({}).DATABASE_URL, null);
    assert.equal(
      embedded({ RELAY_MODE: 'hosted', RELAY_AUTH_SECRET: hosted.RELAY_AUTH_SECRET }).RELAY_MODE,
      'hosted',
    );
  });

  const refusedAlone: [string, Record<string, string>, RegExp][] = [
    [
      'a database',
      { DATABASE_URL: good.DATABASE_URL },
      /DATABASE_URL is set.*`relay serve`.*`relay migrate --from/,
    ],
    ['a Redis', { REDIS_URL: good.REDIS_URL }, /REDIS_URL is set.*Unset it/],
    ['a spool elsewhere', { RELAY_SPOOL_DIR: '/var/spool/relay' }, /RELAY_SPOOL_DIR is set/],
    ['inference elsewhere', { RELAY_INFERENCE_URL: 'http://inference:8080' }, /`relay serve --role …`/],
    ['a key between roles', { RELAY_CONTEXT_VERIFY_KEYS: publicKey }, /RELAY_CONTEXT_VERIFY_KEYS is set/],
  ];
  for (const [what, over, expected] of refusedAlone)
    it(`refuses such a process ${what}, and says what to do instead`, () =>
      assert.throws(() => embedded(over), expected));
});
