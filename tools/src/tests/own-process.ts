/** Test files that cannot share a process with others, and why. The runner starts each of them alone. */
export const ownProcess: Readonly<Record<string, string>> = {
  'console/src/format/times.test.ts': 'sets the time zone before the formatters are created',
  'server/src/admission/health/endpoint-health.db.test.ts':
    'awaits moments that the others of its folder delay by seconds',
  'server/src/main/simulation/planted-bugs.test.ts': 'replaces timers, clock and disk of all modules',
  'server/src/main/simulation/simulation.test.ts': 'replaces timers, clock and disk of all modules',
  'server/src/management/requests/streams.db.test.ts': 'measures the heap',
};
