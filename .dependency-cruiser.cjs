// Who may import whom. The table is the one in docs/ARCHITECTURE.md; tools/src/check/imports.ts runs it and
// proves that every source file was really read.

/** Rooms of server/src and the other rooms each may import. `main` may import all and is not listed. */
const rooms = {
  kit: [],
  domain: ['kit'],
  store: ['kit', 'domain'],
  http: ['kit', 'domain'],
  admission: ['kit', 'domain', 'store'],
  guardrails: ['kit', 'domain'],
  edge: ['kit', 'domain', 'store', 'http'],
  inference: ['kit', 'domain', 'store', 'http', 'admission', 'guardrails'],
  management: ['kit', 'domain', 'store', 'http', 'admission', 'guardrails'],
  metering: ['kit', 'domain', 'store'],
};

/** Modules of server/src/store and the other modules each may import; the files at its top import none of them. */
const storeModules = {
  postgres: [],
  redis: [],
  configuration: ['postgres'],
  ledger: ['postgres'],
  keys: ['postgres', 'redis', 'configuration'],
  embedded: ['postgres', 'ledger'],
};

/** Workspace members and the other members each may import. */
const members = {
  contract: [],
  server: ['contract'],
  console: ['contract'],
  cli: ['contract', 'server', 'provider-sim'],
  'provider-sim': [],
  testbed: [],
  'system-tests': ['contract', 'provider-sim', 'testbed'],
  bench: ['contract', 'provider-sim', 'testbed'],
  tools: ['contract', 'server', 'cli'],
};

const isTest = '\\.test\\.ts$';
/** What several tests set up in the same way; as good as a test, except that tests import it. */
const isFixture = '(\\.|/)fixture\\.ts$';
const forTests = `(${isTest}|${isFixture})`;
const anyMember = `^(${Object.keys(members).join('|')})/`;

const roomRules = Object.entries(rooms).map(([room, allowed]) => ({
  name: `room-${room}`,
  comment: `server/src/${room} may import ${allowed.join(', ') || 'no other room'}.`,
  severity: 'error',
  from: { path: `^server/src/${room}/` },
  to: { path: '^server/src/', pathNot: `^server/src/(${[room, ...allowed].join('|')})/` },
}));

const storeRules = Object.entries(storeModules).map(([module, allowed]) => ({
  name: `store-${module}`,
  comment: `server/src/store/${module} may import ${allowed.join(', ') || 'no other module of the store'}.`,
  severity: 'error',
  from: { path: `^server/src/store/${module}/`, pathNot: forTests },
  to: {
    path: '^server/src/store/[^/]+/',
    pathNot: `^server/src/store/(${[module, ...allowed].join('|')})/`,
  },
}));

const memberRules = Object.entries(members).map(([member, allowed]) => ({
  name: `member-${member}`,
  comment: `${member} may import ${allowed.join(', ') || 'no other member'}.`,
  severity: 'error',
  from: { path: `^${member}/`, pathNot: forTests },
  to: { path: anyMember, pathNot: `^(${[member, ...allowed].join('|')})/` },
}));

/** Tests may also use the testbed, which only tests need. */
const memberTestRules = Object.entries(members)
  .filter(([member]) => member !== 'contract' && member !== 'provider-sim')
  .map(([member, allowed]) => ({
    name: `member-${member}-tests`,
    comment: `Tests of ${member} may import ${[...allowed, 'testbed'].join(', ')}.`,
    severity: 'error',
    from: { path: `^${member}/.*${forTests}` },
    to: { path: anyMember, pathNot: `^(${[member, ...allowed, 'testbed'].join('|')})/` },
  }));

module.exports = {
  forbidden: [
    ...roomRules,
    ...storeRules,
    {
      name: 'store-top',
      comment: 'The files at the top of server/src/store serve its modules and import none of them.',
      severity: 'error',
      from: { path: '^server/src/store/[^/]+$', pathNot: forTests },
      to: { path: '^server/src/store/[^/]+/' },
    },
    {
      name: 'store-unknown',
      comment: 'Every folder of server/src/store is a module of the table, or holds fixtures.',
      severity: 'error',
      from: {
        path: '^server/src/store/[^/]+/',
        pathNot: [`^server/src/store/(${Object.keys(storeModules).join('|')})/`, isFixture],
      },
      to: {},
    },
    ...memberRules,
    ...memberTestRules,
    {
      name: 'room-unknown',
      comment: 'Every file of server/src lies in a room of the table.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: `^server/src/(${[...Object.keys(rooms), 'main'].join('|')})/` },
      to: {},
    },
    {
      name: 'member-by-its-entry',
      comment: 'Members are imported by package name, through their entry alone.',
      severity: 'error',
      from: { path: '^([^/]+)/' },
      to: {
        path: anyMember,
        pathNot: [
          '^$1/',
          '^server/src/main/index\\.ts$',
          '^server/src/management/config-file/text/index\\.ts$',
          '^[^/]+/src/index\\.ts$',
          '^contract/openapi\\.json$',
          '^contract/src/(api-types|errors|config-text/index)\\.ts$',
        ],
      },
    },
    {
      name: 'tests-are-leaves',
      comment: 'Nothing imports a test.',
      severity: 'error',
      from: {},
      to: { path: isTest },
    },
    {
      name: 'fixtures-are-for-tests',
      comment: 'Only tests and other fixtures import a fixture.',
      severity: 'error',
      from: { pathNot: forTests },
      to: { path: isFixture },
    },
    {
      name: 'no-circular',
      comment: 'No import cycles, type imports included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Every module imports something or is imported.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          forTests,
          '^[^/]+/src/(main|index)\\.ts$',
          '^[^/]+/bin/',
          '^console/public/',
          // Given to Node by its path.
          '^tools/src/run-tests/leave-at-once\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment: 'Every import resolves.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Built files are not ours to govern.
    exclude: { path: '^[^/]+/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.d.ts', '.json'],
    },
  },
};
