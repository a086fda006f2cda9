import { faultsIn } from '../fault.ts';

export const providerSimFaults = faultsIn('provider-sim/src', [
  {
    name: 'any key is accepted',
    file: 'refuse-head.ts',
    find: "given.keys === null ? facts.key !== '' : given.keys.has(facts.key)",
    replace: "facts.key !== ''",
    why: 'suites that prove which credential is sent prove nothing',
    tests: ['control.test.ts', 'provider-sim.test.ts', 'strictness.test.ts'],
  },
  {
    name: 'leaked headers of clients pass',
    file: 'refuse-head.ts',
    find: 'if (violations.length === 0) return null;',
    replace: 'if (violations.length >= 0) return null;',
    why: 'suites that prove that nothing leaks prove nothing',
    tests: ['strictness.test.ts', 'provider-sim.test.ts'],
  },
  {
    name: 'an answer that its client left counts twice',
    file: 'counts.ts',
    find: "if (from !== 'pending') counts[outcomeFields[from]] -= 1;",
    replace: '',
    why: 'sums over requests are wrong',
  },
  {
    name: 'reported tokens are not counted',
    file: 'counts.ts',
    find: 'counts.reportedCompletionTokens += entry.reportedUsage?.completionTokens ?? 0;',
    replace: '',
    why: 'suites that compare the ledger with the provider prove nothing',
  },
]);
