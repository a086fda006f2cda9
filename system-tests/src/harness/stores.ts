import { describe, it } from 'node:test';

/**
 * What deployments of this run keep their state in: PostgreSQL and Redis, or, with RELAY_SYSTEM_STORES=embedded, the process
 * itself, as `relay start` does.
 */
export const stores = process.env['RELAY_SYSTEM_STORES'] === 'embedded' ? 'embedded' : 'servers';

/** How tests begin that a run says it leaves out, and why. */
const LEFT_OUT = 'not on embedded stores: ';

/** Tests of what an embedded deployment does not have. */
export interface OnServers {
  it(name: string, run: () => Promise<void> | void): void;
  describe(name: string, run: () => void): void;
}

export function onServers(why: string): OnServers {
  if (stores === 'servers') {
    return {
      it: (name, run) => void it(name, run),
      // Tests of one `describe` run in order, whatever surrounds them.
      describe: (name, run) => void describe(name, { concurrency: 1 }, run),
    };
  }
  const leaveOut = (name: string) => void process.stdout.write(`${LEFT_OUT}${name} (${why})\n`);
  return { it: leaveOut, describe: leaveOut };
}

export const severalProcesses = onServers('it needs several processes on the same stores');
export const storeServers = onServers('it stops or reads a store that is a server');
