/**
 * Suites that `--all` also runs on the embedded stores. The others need several processes, stores that are servers, or rows that they put
 * into a database.
 */
export const embeddedSuites: readonly string[] = [
  'clients',
  'fidelity',
  'agents',
  'routes',
  'fault-matrix',
  'presets',
  'ways-in',
  'bounds',
  'egress',
  'sessions',
  'admission',
  'streams',
  'budgets',
];
