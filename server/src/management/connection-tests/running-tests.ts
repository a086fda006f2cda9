import { queueFull } from '../resources/refusals.ts';

export interface RunningTestsMax {
  readonly inOrganization: number;
  readonly inProcess: number;
}

const TOO_MANY_TESTS = 'Too many connection tests are running. Wait for one to finish, then test again.';

/** Bounds concurrent tests: each holds a connection and memory, and calls a provider. */
export function createRunningTests(max: RunningTestsMax) {
  const running = new Map<string, number>();
  let total = 0;
  return async <T>(organizationId: string, test: () => Promise<T>): Promise<T> => {
    const own = running.get(organizationId) ?? 0;
    if (own >= max.inOrganization || total >= max.inProcess) throw queueFull(TOO_MANY_TESTS, 1);
    running.set(organizationId, own + 1);
    total += 1;
    try {
      return await test();
    } finally {
      total -= 1;
      const left = (running.get(organizationId) ?? 1) - 1;
      if (left === 0) running.delete(organizationId);
      else running.set(organizationId, left);
    }
  };
}
