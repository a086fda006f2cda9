import pg from 'pg';

const STORES = 'docker compose -f .devcontainer/compose.yaml up --wait postgres redis';

/** The caller ends the connection. The error names the server, without the password, and says what to do. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `PostgreSQL doesn't respond at ${client.host}:${client.port} (${reason}).\nStart it with \`${STORES}\`, or set DATABASE_URL to one that runs. ` +
        'To run Relay without any store: node cli/bin/relay.js start --demo',
      { cause },
    );
  }
}

/** Creates the database unless it exists. */
export async function createDatabase(serverUrl: string, name: string): Promise<void> {
  const client = await connectTo(`${serverUrl}/postgres`);
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}
