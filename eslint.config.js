// Only what Biome cannot say: who may open a connection or read the environment. What needs types is in .oxlintrc.json.
import tseslint from 'typescript-eslint';

const egressMessage = 'Only the egress module of kit opens outgoing connections.';
const mailMessage = 'Only the mail module talks to the mail server.';
const natsMessage = 'Only the usage stream of metering talks to NATS.';
const storeMessage = 'Only the store module talks to PostgreSQL and Redis.';
const environmentMessage = 'Only the main module reads the environment; take the setting as an argument.';

/** Names that cannot open a connection and so are free to import anywhere. Types always are. */
const harmlessNames = {
  'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
  'node:http': ['STATUS_CODES', 'METHODS'],
};
const networkModules = ['http', 'https', 'http2', 'net', 'tls', 'dns', 'dns/promises', 'dgram'].map(
  (name) => `node:${name}`,
);

function restrictedImports({ network, stores, environment, mail = true, nats = true, alsoAllowed = {} }) {
  const paths = [];
  if (network) {
    for (const name of [...networkModules, 'undici']) {
      const allowed = [...(harmlessNames[name] ?? []), ...(alsoAllowed[name] ?? [])];
      const only = allowed.length === 0 ? {} : { allowImportNames: allowed };
      paths.push({ name, allowTypeImports: true, message: egressMessage, ...only });
    }
  }
  if (mail) paths.push({ name: 'nodemailer', allowTypeImports: true, message: mailMessage });
  if (nats) {
    for (const name of ['@nats-io/transport-node', '@nats-io/jetstream'])
      paths.push({ name, allowTypeImports: true, message: natsMessage });
  }
  if (stores) {
    for (const name of ['pg', 'redis']) paths.push({ name, allowTypeImports: true, message: storeMessage });
  }
  if (environment) {
    paths.push({
      name: 'node:process',
      importNames: ['default', 'env'],
      allowTypeImports: true,
      message: environmentMessage,
    });
  }
  return ['error', { paths }];
}

const dynamicNetworkImport = {
  selector: `ImportExpression[source.value=/^(undici|nodemailer|@nats-io\\u002F.*|(node:)?(https?|http2|net|tls|dns|dns\\u002Fpromises|dgram))$/]`,
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

const serverTests = ['server/src/**/*.test.ts', 'server/src/**/*.fixture.ts', 'server/src/**/fixture.ts'];

export default tseslint.config(
  { ignores: ['**/node_modules/', '**/dist/', '.cache/', 'coverage/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: false } },
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parser: tseslint.parser },
    plugins: { '@typescript-eslint': tseslint.plugin },
  },
  {
    files: ['server/src/**/*.ts'],
    ignores: serverTests,
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: true,
        environment: true,
      }),
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: egressMessage },
        { name: 'WebSocket', message: egressMessage },
        { name: 'EventSource', message: egressMessage },
      ],
      'no-restricted-syntax': [
        'error',
        dynamicNetworkImport,
        globalClient,
        readsEnvironment,
        takesEnvironment,
      ],
    },
  },
  {
    // The listener accepts connections; it does not make any.
    files: ['server/src/http/**/*.ts'],
    ignores: serverTests,
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: true,
        environment: true,
        alsoAllowed: { 'node:http': ['createServer', 'IncomingMessage', 'ServerResponse', 'Server'] },
      }),
    },
  },
  {
    files: ['server/src/store/**/*.ts'],
    ignores: serverTests,
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: false,
        environment: true,
      }),
    },
  },
  {
    // A socket in the data directory, which the process that works there listens on.
    files: ['server/src/store/embedded/data-directory-lock.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: true,
        environment: true,
        alsoAllowed: { 'node:net': ['connect', 'createServer', 'Server'] },
      }),
    },
  },
  {
    files: ['server/src/kit/egress*.ts', 'server/src/kit/egress/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: false,
        stores: true,
        environment: true,
      }),
      'no-restricted-globals': 'off',
      'no-restricted-syntax': ['error', readsEnvironment, takesEnvironment],
    },
  },
  {
    // The operator configures the mail server, so it needs no vetting by the egress.
    files: ['server/src/mail/smtp-transport.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: true,
        environment: true,
        mail: false,
      }),
      'no-restricted-syntax': ['error', globalClient, readsEnvironment, takesEnvironment],
    },
  },
  {
    // The operator configures these servers too.
    files: ['server/src/metering/sinks/jetstream/usage-stream.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: true,
        environment: true,
        nats: false,
      }),
      'no-restricted-syntax': ['error', globalClient, readsEnvironment, takesEnvironment],
    },
  },
  {
    files: ['server/src/main/**/*.ts'],
    ignores: serverTests,
    rules: {
      '@typescript-eslint/no-restricted-imports': restrictedImports({
        network: true,
        stores: true,
        environment: false,
      }),
      'no-restricted-syntax': ['error', dynamicNetworkImport, globalClient],
    },
  },
);
