import pg from 'pg';
import type { RelayProcess } from './relay-process.ts';

const APPLIED_MS_MAX = 20_000;

/** Resolves when these processes have applied the configuration that the database holds now. */
export async function everywhere(
  databaseUrl: string,
  processes: readonly Pick<RelayProcess, 'sync' | 'url'>[],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ version: string }>('select version from config_clock');
  await client.end();
  const version = Number(rows[0]?.version);
  await Promise.all(processes.map((each) => reached(each, version)));
}

async function reached({ sync, url }: Pick<RelayProcess, 'sync' | 'url'>, version: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`${url} has not applied version ${version} of the configuration`));
    timer = setTimeout(fail, APPLIED_MS_MAX);
  });
  await Promise.race([sync(version), late]).finally(() => clearTimeout(timer));
}
