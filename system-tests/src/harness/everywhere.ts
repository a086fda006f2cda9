import pg from 'pg';
import type { RelayProcess } from './relay-process.ts';

/** Resolves when these processes have applied the configuration that the database holds now. */
export async function everywhere(
  databaseUrl: string,
  processes: readonly Pick<RelayProcess, 'sync' | 'isRunning'>[],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ version: string }>('select version from config_clock');
  await client.end();
  const version = Number(rows[0]?.version);
  // A test may have killed some.
  const running = processes.filter(({ isRunning }) => isRunning);
  await Promise.all(running.map(({ sync }) => sync(`configuration ${version}`)));
}
