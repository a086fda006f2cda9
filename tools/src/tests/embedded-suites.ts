/**
 * Suites that also run on the embedded stores, each with its tier. The others need several processes, stores that are servers,
 * or rows that they put into a database.
 */
export const embeddedSuites: Readonly<Record<string, 'run' | 'all'>> = {
  clients: 'all',
  fidelity: 'all',
  agents: 'all',
  management: 'all',
  'error-rows': 'all',
  'fault-matrix': 'all',
  presets: 'all',
  'ways-in': 'all',
  bounds: 'all',
  egress: 'all',
  sessions: 'all',
  admission: 'all',
  streams: 'all',
  budgets: 'run',
};
