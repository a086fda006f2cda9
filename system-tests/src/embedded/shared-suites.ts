/** A suite that also runs on the embedded stores, as it is. */
export interface SharedSuite {
  readonly name: string;
  /** Whether it is run every time, or with RELAY_SYSTEM_LONG=1 alone. */
  readonly isShort: boolean;
}

export const sharedSuites: readonly SharedSuite[] = [
  { name: 'first-request', isShort: false },
  { name: 'clients', isShort: false },
  { name: 'fidelity', isShort: false },
  { name: 'agents', isShort: false },
  { name: 'management', isShort: true },
  { name: 'error-rows', isShort: false },
  { name: 'fault-matrix', isShort: false },
  { name: 'provider-failures', isShort: false },
  { name: 'lies', isShort: false },
  { name: 'presets', isShort: false },
  { name: 'ways-in', isShort: false },
  { name: 'aborts', isShort: false },
  { name: 'bounds', isShort: false },
  { name: 'egress', isShort: false },
  { name: 'sessions', isShort: false },
  { name: 'admission', isShort: false },
  { name: 'streams', isShort: false },
  { name: 'budgets', isShort: true },
];

/**
 * What an embedded deployment cannot be asked, and why. Single tests of the suites above that cannot are named when these run.
 */
export const notShared: Readonly<Record<string, string>> = {
  alerts: 'workers in processes of their own, which are killed',
  authorization:
    'people and keys of many organizations are put into the database, and a second process misbehaves on it',
  billing: 'two processes of a hosted deployment, whose organizations are put into the database',
  canary: 'it reads PostgreSQL and Redis to the last byte',
  conformance: 'it walks the modes beside one another, with another organization put into the database',
  'context-attacks': 'roles in processes of their own',
  translations: 'the server’s own cases, without a deployment',
  line: 'several gateways, of which one is killed, and a Redis that stands still and is measured',
  neighbours: 'a hosted deployment, with organizations that are put into the database',
  prices: 'random sums are put into the database',
  telemetry: 'keys are put into the database, and Redis is measured',
  rolling: 'several gateways behind a load balancer',
  clocks: 'clocks of several machines that disagree',
  outage: 'stores that are away while the process goes on',
  revocation: 'several processes, of which each has to hear of a revocation',
};
