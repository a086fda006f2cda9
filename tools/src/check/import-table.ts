// Which folder may import which. docs/ARCHITECTURE.md explains the table of the server's modules; the check
// (tools/src/check/imports.ts) holds the code against all of them, and tools/src/check-imports.test.ts plants
// one violation of every rule.

export interface FolderTable {
  /** The folder whose children the table governs. */
  readonly at: string;
  /** The first word of its rules' names. */
  readonly name: string;
  /** The siblings that a folder may import. A folder without a row may import those in `shared` only. */
  readonly rows: Readonly<Record<string, readonly string[]>>;
  /** Every folder has a row; one without is a violation by itself. */
  readonly complete: boolean;
  /** Folders that every folder without a row may import. */
  readonly shared: readonly string[];
  /** Files beside the folders that put them together: they import every folder, and no folder imports them. */
  readonly above: readonly string[];
  // All other files beside the folders lie below: every folder may import them, and they import only shared folders.
  /** Tests of a folder follow its row too; elsewhere they may import what they test with. */
  readonly testsToo?: true;
}

export const folderTables: readonly FolderTable[] = [
  {
    at: 'server/src',
    name: 'module',
    above: [],
    shared: [],
    complete: true,
    testsToo: true,
    rows: {
      kit: [],
      domain: ['kit'],
      protocols: ['kit', 'domain'],
      store: ['kit', 'domain'],
      http: ['kit', 'domain', 'protocols'],
      admission: ['kit', 'domain', 'store'],
      guardrails: ['kit', 'domain'],
      mail: ['kit'],
      alerts: ['kit', 'domain', 'store', 'mail'],
      edge: ['kit', 'domain', 'protocols', 'store', 'http', 'mail'],
      inference: ['kit', 'domain', 'protocols', 'store', 'http', 'admission', 'guardrails'],
      management: [
        'kit',
        'domain',
        'protocols',
        'store',
        'http',
        'admission',
        'guardrails',
        'mail',
        'alerts',
      ],
      metering: ['kit', 'domain', 'store'],
      // `main` puts the modules together.
      main: ['.*'],
    },
  },
  {
    at: 'server/src/store',
    name: 'store',
    above: [],
    shared: [],
    complete: true,
    rows: {
      postgres: [],
      deployment: ['postgres'],
      redis: ['deployment'],
      configuration: ['postgres'],
      ledger: ['postgres'],
      alerts: ['postgres'],
      keys: ['postgres', 'redis', 'configuration'],
      secrets: ['postgres'],
      embedded: ['postgres', 'ledger'],
    },
  },
  {
    // Steps of the pipeline know the exchange and themselves; pipeline.ts alone knows their order.
    at: 'server/src/inference',
    name: 'step',
    above: [
      'handler.ts',
      'pipeline.ts',
      'attempt.ts',
      'note-health.ts',
      'health-probes.ts',
      'answer-itself.ts',
      'endings.ts',
      'last-answer.ts',
    ],
    shared: [],
    complete: true,
    rows: { receive: [], route: [], guard: [], admit: [], dispatch: [], respond: [], settle: [] },
  },
  {
    // One folder for each resource, over what they share. The registry lists them, and the configuration file is
    // made of what the registry lists.
    at: 'server/src/management',
    name: 'feature',
    above: ['index.ts'],
    shared: ['resources'],
    complete: false,
    rows: {
      resources: [],
      registry: ['.*'],
      // Limits of members, keys and teams are in no file; a plan names those that it deletes.
      'config-file': ['resources', 'registry', 'pricing-policies', 'limits'],
      // Tries an edit by the handler that would save it.
      'dry-run': ['resources', 'registry'],
      'routing-explanation': ['resources', 'dry-run'],
      // Replays what an apply of the file, or a save of one resource, would make of the configuration.
      'what-if': ['resources', 'config-file', 'connection-tests', 'dry-run'],
    },
  },
  {
    at: 'console/src',
    name: 'console',
    above: ['main.tsx'],
    shared: [],
    complete: true,
    rows: {
      text: ['format'],
      format: [],
      errors: [],
      ui: ['text', 'format', 'errors'],
      forms: ['text', 'format', 'errors', 'ui'],
      address: ['text', 'format', 'ui'],
      'time-range': ['text', 'format', 'ui', 'address'],
      api: ['text', 'format', 'errors', 'ui', 'address', 'time-range'],
      session: ['text', 'format', 'errors', 'ui', 'forms', 'address', 'time-range', 'api'],
      parts: ['text', 'format', 'errors', 'ui', 'forms', 'address', 'time-range', 'api', 'session'],
      pages: ['text', 'format', 'errors', 'ui', 'forms', 'address', 'time-range', 'api', 'session', 'parts'],
      app: [
        ...['text', 'format', 'errors', 'ui', 'forms', 'address', 'time-range', 'api', 'session', 'parts'],
        'pages',
      ],
    },
  },
  { at: 'console/src/pages', name: 'page', above: [], shared: [], complete: false, rows: {} },
  {
    // Commands share what lies below them and do not import one another.
    at: 'cli/src',
    name: 'command',
    above: ['index.ts', 'program.ts', 'commands.ts'],
    shared: ['kit', 'output', 'session', 'api', 'sources'],
    complete: false,
    rows: {
      kit: [],
      output: ['kit'],
      session: ['kit'],
      api: ['kit', 'output', 'session'],
      sources: ['kit', 'api'],
    },
  },
  {
    // A suite lies whole in its folder; what two suites need is in the harness.
    at: 'system-tests/src',
    name: 'suite',
    above: [],
    shared: ['harness'],
    complete: false,
    rows: { harness: [] },
  },
];

/** Workspace members and the other members each may import. */
export const memberTable: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  server: ['contract'],
  console: ['contract'],
  cli: ['contract', 'server', 'provider-sim'],
  'provider-sim': [],
  testbed: [],
  'system-tests': ['contract', 'provider-sim', 'testbed'],
  bench: ['contract', 'provider-sim', 'testbed'],
  tools: ['contract', 'server', 'cli', 'testbed'],
  site: ['tools'],
};

export interface ImportException {
  readonly rule: string;
  /** How the imported file's path begins. */
  readonly to: string;
  /** How the importing files' paths begin; each must still match an import. */
  readonly from: readonly string[];
  readonly reason: string;
}

/** Imports that a rule forbids and that stay, each with the reason. One that no longer exists fails the check. */
export const importExceptions: readonly ImportException[] = [
  {
    rule: 'member-cli',
    to: 'tools/node-version.cjs',
    from: ['cli/bin/relay.js'],
    reason: 'from a clone, the command tells an old Node what the scripts tell it',
  },
  {
    rule: 'member-by-its-entry',
    to: 'tools/node-version.cjs',
    from: ['cli/bin/relay.js'],
    reason: 'from a clone, the command tells an old Node what the scripts tell it',
  },
  {
    rule: 'member-system-tests',
    to: 'cli/src/index.ts',
    from: ['system-tests/src/cli/run-here.ts'],
    reason: 'one process runs all golden commands; only the types of what the package exports are imported',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/chaos/',
    from: [
      'system-tests/src/outage/',
      'system-tests/src/failover/',
      'system-tests/src/mixed/',
      'system-tests/src/on-call/',
      'system-tests/src/stores/',
    ],
    reason: 'an outage is watched with the load and the ledger view of chaos',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/clocks/fake-clock.ts',
    from: ['system-tests/src/on-call/'],
    reason: 'the clock of a process jumps in a night on call',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/telemetry/prometheus.ts',
    from: ['system-tests/src/on-call/'],
    reason: 'a real Prometheus evaluates the rules in a night on call',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/cli/run-cli.ts',
    from: ['system-tests/src/on-call/'],
    reason: 'an operator runs commands in a night on call',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/chaos/',
    from: ['system-tests/src/hard-caps/'],
    reason: 'caps are tried on the fleet whose processes can be killed',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/failover/judge.ts',
    from: ['system-tests/src/mixed/', 'system-tests/src/stores/'],
    reason: 'what must hold over a change of version is what must hold over a loss of Redis',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/reconcile/provider-reports.ts',
    from: ['system-tests/src/books/'],
    reason: 'ten thousand requests are compared with the export that reconcile reads',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/rolling/load.ts',
    from: ['system-tests/src/ways-in/', 'system-tests/src/operate/'],
    reason:
      'tokens end, credentials rotate and shipped files are tried under the load that restarts are judged by',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/chaos/random.ts',
    from: [
      'system-tests/src/alerts/',
      'system-tests/src/fuzz/',
      'system-tests/src/jetstream/',
      'system-tests/src/numbers/',
      'system-tests/src/what-if/',
    ],
    reason:
      'fuzzed inputs, random traffic, kills, and what a receiver fails, are the same reproducible choices',
  },
  {
    rule: 'suite-siblings',
    to: 'system-tests/src/chaos/usage-lines.ts',
    from: ['system-tests/src/jetstream/'],
    reason: 'a stream is compared with the ledger as usage files are',
  },
  {
    rule: 'command-siblings',
    to: 'cli/src/resources/',
    from: ['cli/src/requests/filters.ts'],
    reason: 'filters name lanes, endpoints and providers as their commands do',
  },
  {
    rule: 'command-siblings',
    to: 'cli/src/explain/',
    from: ['cli/src/resources/lanes.ts'],
    reason: '`lanes explain` is `explain` under another name',
  },
  {
    rule: 'command-siblings',
    to: 'cli/src/demo/',
    from: ['cli/src/run/start.ts'],
    reason: '`start --demo` starts the demo',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/api-keys/',
    from: [
      'server/src/management/invitations/',
      'server/src/management/limits/',
      'server/src/management/members/',
      'server/src/management/org-api-keys/',
    ],
    reason: "keys and the members' permissions they are limited by are one topic",
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/connection-tests/',
    from: ['server/src/management/alerts/', 'server/src/management/guardrails/'],
    reason: 'a guardrail or a destination of alerts is tested under the same limits as a connection',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/credentials/',
    from: ['server/src/management/connection-tests/'],
    reason: 'opens the secret that a request would send',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/limits/',
    from: ['server/src/management/requests/', 'server/src/management/stats/'],
    reason:
      'a request shows the limits that apply to it, and the statistics of an endpoint its tightest, as the list of limits does',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/members/',
    from: ['server/src/management/invitations/'],
    reason: 'an invitation follows the rules of membership',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/pricing-policies/',
    from: ['server/src/management/endpoints/'],
    reason: 'prices of new endpoints come from the catalog',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/requests/',
    from: ['server/src/management/live/', 'server/src/management/stats/'],
    reason: 'the same filters over requests',
  },
  {
    rule: 'feature-siblings',
    to: 'server/src/management/stats/',
    from: ['server/src/management/guardrails/'],
    reason: 'guardrail statistics use the same ranges',
  },
];
