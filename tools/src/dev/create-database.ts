import pg from 'pg';

const STORES = 'docker compose -f .devcontainer/compose.yaml up --wait postgres redis';

/** Creates the database unless it exists. */
export async function createDatabase(serverUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${serverUrl}/postgres`, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `PostgreSQL doesn't respond at ${new URL(serverUrl).host} (${reason}).\nStart it with \`${STORES}\`, or set DATABASE_URL. ` +
        'To run Relay without any store: node cli/bin/relay.js start --demo',
      { cause },
    );
  }
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}
