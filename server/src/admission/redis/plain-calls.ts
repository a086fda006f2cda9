import type { AdmissionEngine } from '../engine.ts';
import type { Scripts } from './scripts.ts';
import { listOf, openingArguments, readUsage, restoreArguments, useArguments } from './wire.ts';

export interface CallDeps {
  readonly scripts: Scripts;
  /** The first argument of every script: the time of a test, or nothing. */
  readonly time: () => string;
  readonly prefixFor: (organizationId: string) => string;
}

type PlainCalls = Pick<
  AdmissionEngine,
  'extend' | 'restore' | 'restoreUses' | 'penalize' | 'initialize' | 'usage' | 'inFlight' | 'nextSlots'
>;

/** A script blocks Redis for everybody while it runs: the windows of a thousand limits take longer than a command's deadline on a busy server. */
const USAGES_PER_CALL = 100;
/** Reading so many leases takes a few milliseconds. */
const LEASES_PER_CALL = 2_000;

/** Calls that move no line. */
export function createPlainCalls({ scripts, time, prefixFor }: CallDeps): PlainCalls {
  return {
    async extend(organizationId, operationIds, leaseMs) {
      const args = [time(), String(leaseMs), ...operationIds];
      return listOf(await scripts.run('extend', prefixFor(organizationId), args)).map(String);
    },
    async restore(ask, candidate, agoMs) {
      const args = [time(), ...restoreArguments(ask, candidate, agoMs)];
      return Number(await scripts.run('restore', prefixFor(ask.organizationId), args)) === 1;
    },
    async restoreUses(organizationId, operationId, uses) {
      const args = [time(), organizationId, operationId, ...useArguments(uses)];
      return Number(await scripts.run('restore-uses', prefixFor(organizationId), args)) === 1;
    },
    async penalize(organizationId, endpointId, forMs) {
      const args = [time(), organizationId, endpointId, String(Math.ceil(forMs))];
      await scripts.run('penalize', prefixFor(organizationId), args);
    },
    async initialize(organizationId, openings) {
      const args = openingArguments(openings);
      await scripts.run('initialize', prefixFor(organizationId), [time(), organizationId, ...args]);
    },
    async usage(organizationId, limits) {
      const usages: Awaited<ReturnType<AdmissionEngine['usage']>>[] = [];
      for (let at = 0; at < limits.length; at += USAGES_PER_CALL) {
        const part = limits.slice(at, at + USAGES_PER_CALL);
        const args = part.flatMap(({ id, metric, period }) => [id, metric, period]);
        const reply = await scripts.run('usage', prefixFor(organizationId), [
          time(),
          organizationId,
          ...args,
        ]);
        usages.push(readUsage(reply, part));
      }
      return usages.flat();
    },
    async inFlight(organizationId, limits) {
      const asked = limits
        .slice(0, USAGES_PER_CALL)
        .flatMap(({ id, metric, period }) => [id, metric, period]);
      const args = [time(), organizationId, String(LEASES_PER_CALL), ...asked];
      const numbers = listOf(await scripts.run('in-flight', prefixFor(organizationId), args)).map(Number);
      if (numbers.length === 0) return null;
      return limits.slice(0, numbers.length / 2).map((_, index) => ({
        used: numbers[2 * index] ?? 0,
        inFlight: numbers[2 * index + 1] ?? 0,
      }));
    },
    async nextSlots(organizationId, operationIds) {
      if (operationIds.length === 0) return [];
      const args = [time(), organizationId, ...operationIds];
      const reply = listOf(await scripts.run('next-slots', prefixFor(organizationId), args));
      return reply.map(Number).map((inMs) => (inMs < 0 ? null : inMs));
    },
  };
}
