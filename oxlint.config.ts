// Only what Biome cannot say: who may open a connection or read the environment, what needs types, and how long a file or a
// function may be. tools/src/check/lint.test.ts plants a violation of each.
import { defineConfig } from 'oxlint';

const egressMessage = 'Only the egress module of kit opens outgoing connections.';
const mailMessage = 'Only the mail module talks to the mail server.';
const natsMessage = 'Only the usage stream of metering talks to NATS.';
const storeMessage = 'Only the store module talks to PostgreSQL and Redis.';
const environmentMessage = 'Only the main module reads the environment; take the setting as an argument.';
const everyTestRuns = 'Leaves tests out; make the test hold or delete it.';

/** Names that cannot open a connection and so are free to import anywhere. Types always are. */
const harmlessNames: Names = {
  'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
  'node:http': ['STATUS_CODES', 'METHODS'],
};
const networkModules = ['http', 'https', 'http2', 'net', 'tls', 'dns', 'dns/promises', 'dgram'].flatMap(
  (name) => [name, `node:${name}`],
);

type Names = Readonly<Record<string, readonly string[]>>;
type Rules = NonNullable<Parameters<typeof defineConfig>[0]['rules']>;
type Restricted = 'network' | 'mail' | 'nats' | 'stores' | 'environment';

/** What a part of the server may import besides: whole groups, or names of a module. */
function imports(free: readonly Restricted[] = [], alsoAllowed: Names = {}): Rules {
  const restricted = (group: Restricted, message: string, ...names: readonly string[]) =>
    free.includes(group)
      ? []
      : names.map((name) => {
          const allowed = [...(harmlessNames[name] ?? []), ...(alsoAllowed[name] ?? [])];
          const only = allowed.length === 0 ? {} : { allowImportNames: allowed };
          return { name, allowTypeImports: true, message, ...only };
        });
  const environment = {
    name: 'node:process',
    importNames: ['default', 'env'],
    allowTypeImports: true,
    message: environmentMessage,
  };
  const paths = [
    ...restricted('network', egressMessage, 'undici', ...networkModules),
    ...restricted('mail', mailMessage, 'nodemailer'),
    ...restricted('nats', natsMessage, '@nats-io/transport-node', '@nats-io/jetstream'),
    ...restricted('stores', storeMessage, 'pg', 'redis'),
    ...(free.includes('environment') ? [] : [environment]),
  ];
  return { 'no-restricted-imports': ['error', { paths }] };
}

// What `allowImportNames` lets through whole.
const importsAtRuntime = {
  selector: `ImportExpression[source.value=/^node:(http|net)$/]`,
  message: egressMessage,
};
const globalClient = {
  selector: `MemberExpression[object.name='globalThis'][property.name=/^(fetch|WebSocket|EventSource)$/]`,
  message: egressMessage,
};
const readsEnvironment = {
  selector: `MemberExpression[object.name='process'][property.name='env']`,
  message: environmentMessage,
};
const takesEnvironment = {
  selector: `VariableDeclarator[init.name='process'] > ObjectPattern > Property[key.name='env']`,
  message: environmentMessage,
};
const marksTest = {
  selector: `CallExpression > MemberExpression.callee[object.name=/^(describe|it|test|suite|t|context)$/][property.name=/^(only|skip|todo)$/]`,
  message: everyTestRuns,
};
const givesMark = {
  selector: `CallExpression[callee.name=/^(describe|it|test|suite)$/] > ObjectExpression > Property[key.name=/^(only|skip|todo)$/]`,
  message: everyTestRuns,
};

function syntax(...restricted: readonly { readonly selector: string; readonly message: string }[]): Rules {
  return { 'relay/restricted-syntax': ['error', ...restricted] };
}

const tests = ['**/*.test.ts', 'system-tests/src/**/*.ts'];
const serverTests = ['server/src/**/*.test.ts', 'server/src/**/*.fixture.ts', 'server/src/**/fixture.ts'];
const production = ['server', 'console', 'cli', 'contract'].flatMap((member) => [
  `${member}/src/**/*.ts`,
  `${member}/src/**/*.tsx`,
]);

export default defineConfig({
  plugins: ['typescript'],
  jsPlugins: ['./tools/src/check/restricted-syntax.ts'],
  categories: { correctness: 'off' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['dist/', '.cache/', 'coverage/', 'contract/src/api-types.ts'],
  rules: {
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          {
            from: 'package',
            package: 'node:test',
            name: ['describe', 'it', 'test', 'suite', 'before', 'after'],
          },
        ],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
    ],
    'max-lines': ['error', { max: 400 }],
  },
  overrides: [
    {
      files: production,
      excludeFiles: ['**/*.test.ts', '**/*.fixture.ts', '**/fixture.ts'],
      rules: { 'max-lines-per-function': ['error', { max: 70, IIFEs: true }] },
    },
    { files: tests, rules: syntax(marksTest, givesMark) },
    {
      files: ['server/src/**/*.ts'],
      excludeFiles: serverTests,
      rules: {
        ...imports(),
        ...syntax(importsAtRuntime, globalClient, readsEnvironment, takesEnvironment),
        'no-restricted-globals': [
          'error',
          ...['fetch', 'WebSocket', 'EventSource'].map((name) => ({ name, message: egressMessage })),
        ],
      },
    },
    {
      // The listener accepts connections; it does not make any.
      files: ['server/src/http/**/*.ts'],
      excludeFiles: serverTests,
      rules: imports([], { 'node:http': ['createServer', 'IncomingMessage', 'ServerResponse', 'Server'] }),
    },
    { files: ['server/src/store/**/*.ts'], excludeFiles: serverTests, rules: imports(['stores']) },
    {
      // A socket in the data directory, which the process that works there listens on.
      files: ['server/src/store/embedded/data-directory-lock.ts'],
      rules: imports([], { 'node:net': ['connect', 'createServer', 'Server'] }),
    },
    {
      files: ['server/src/kit/egress*.ts', 'server/src/kit/egress/**/*.ts'],
      excludeFiles: serverTests,
      rules: {
        ...imports(['network']),
        ...syntax(readsEnvironment, takesEnvironment),
        'no-restricted-globals': 'off',
      },
    },
    {
      // The operator configures the mail server, so it needs no vetting by the egress.
      files: ['server/src/mail/smtp-transport.ts'],
      rules: {
        ...imports(['mail']),
        ...syntax(importsAtRuntime, globalClient, readsEnvironment, takesEnvironment),
      },
    },
    {
      // The operator configures these servers too.
      files: ['server/src/metering/sinks/jetstream/usage-stream.ts'],
      rules: {
        ...imports(['nats']),
        ...syntax(importsAtRuntime, globalClient, readsEnvironment, takesEnvironment),
      },
    },
    {
      files: ['server/src/main/**/*.ts'],
      excludeFiles: serverTests,
      rules: { ...imports(['environment']), ...syntax(importsAtRuntime, globalClient) },
    },
  ],
});
