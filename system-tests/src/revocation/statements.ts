import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateways } from './gateways.ts';

/** The statements that gateways sent to PostgreSQL, from its log. */
export interface StatementLog {
  /** Those logged while `work` ran, and the moment after it in which they reach the file. */
  during(work: () => Promise<void>): Promise<string[]>;
}

const FILE = 'statements.log';
const PREFIX = 'relay-';
const SETTLE_MS = 300;

/** Restarts the server so that it logs every statement; gateways reconnect by themselves. */
export async function logStatements({ inDatabase, deployment }: Gateways): Promise<StatementLog> {
  const settings = {
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: FILE,
    log_rotation_age: '0',
    log_statement: 'all',
    log_line_prefix: '%a|',
  };
  const directory = await inDatabase(async ({ query }) => {
    for (const [name, value] of Object.entries(settings))
      await query(`alter system set ${name} = '${value}'`);
    const [row] = await query('show data_directory');
    return String(row?.['data_directory']);
  });
  const path = join(directory, 'log', FILE);
  await deployment.postgres.stop();
  await deployment.postgres.start();
  return {
    async during(work) {
      const from = statSync(path).size;
      await work();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      const text = readFileSync(path).subarray(from).toString();
      // A statement continues on lines that begin with a tab.
      return text
        .split(/\n(?!\t)/)
        .filter((entry) => entry.startsWith(PREFIX) && /\|LOG: {2}(execute|statement)/.test(entry));
    },
  };
}
