import cliPackage from '../../package.json' with { type: 'json' };
import { ApiError } from '../api/api-error.ts';
import { dataOf } from '../api/client.ts';
import { databaseUrlOf } from '../kit/database-url.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { count, milliseconds } from '../output/cells.ts';
import { availability, failedNeed, storeFindings } from './check-stores.ts';
import { type Check, type Finding, fail, ok, skipped, warn } from './finding.ts';
import { readHealth, serves } from './read-health.ts';

const SKEW_MS_MAX = 5_000;
const SLOW_MS = 1_000;

/** Reachability, latency and clock skew. */
export const checkReachable: Check = async ({ api, surroundings }) => {
  const { server } = api.connection;
  const startMs = surroundings.nowMs();
  const { response } = await api.management.GET('/livez');
  const tookMs = surroundings.nowMs() - startMs;
  const findings: Finding[] = [
    tookMs > SLOW_MS
      ? warn(
          'server',
          `${server} responds slowly: ${milliseconds(tookMs)}.`,
          'Check the network and the machine’s load.',
        )
      : ok('server', `${server} responds.`),
  ];
  const date = response.headers.get('date');
  const skewMs = date === null ? 0 : Math.abs(new Date(date).getTime() - (startMs + tookMs / 2));
  // The header has a resolution of 1 s.
  if (skewMs > SKEW_MS_MAX + 1_000) {
    findings.push(
      warn(
        'clock',
        `The clocks of this machine and the server differ by ${milliseconds(skewMs)}.`,
        'Synchronize both with NTP; signed contexts and expiry depend on it.',
      ),
    );
  } else findings.push(ok('clock', 'The clocks agree.'));
  return findings;
};

/** The server's report on its stores. */
export const checkHealth: Check = async (examination) => {
  const health = await readHealth(examination);
  const findings: Finding[] = availability(health);
  const { clock } = health;
  if (clock?.detail !== undefined) {
    const finding = clock.status === 'ok' ? warn : fail;
    findings.push(
      finding(
        'clock',
        clock.detail,
        'Use NTP to synchronize the clocks of the machines that run Relay and its stores.',
      ),
    );
  }
  findings.push(...storeFindings(health));
  if (health.stores === 'embedded') findings.push(ok('stores', 'The stores are embedded.'));
  if (health.status === 'draining') {
    findings.push(warn('server', 'The server is draining.', 'Wait until it has restarted.'));
  }
  return findings;
};

/** Compares the versions of the server and this command. */
export const checkVersion: Check = async ({ api }) => {
  const { version, mode } = await dataOf(api.management.GET('/api/relay/capabilities'));
  const own = cliPackage.version;
  if (own === version) return [ok('version', `The server is version ${version}, ${mode}.`)];
  return [
    warn(
      'version',
      `The server is version ${version}, but this command is version ${own}.`,
      'Install the same version of both.',
    ),
  ];
};

/** Checks the token of each API that this process serves. Without PostgreSQL, tokens of management cannot be looked up. */
export const checkTokens: Check = async (examination) => {
  const { api } = examination;
  const { tokens, server } = api.connection;
  const health = await readHealth(examination);
  const findings: Finding[] = [];
  const planes = [
    ['management', 'admin token', () => api.management.GET('/api/account')],
    ['inference', 'API token', () => api.inference.GET('/models')],
  ] as const;
  for (const [plane, kind, call] of planes) {
    if (!(await serves(examination, health, plane))) {
      findings.push(skipped('tokens', `a process with the role ${health.role} does not serve ${plane}.`));
      continue;
    }
    const missing = plane === 'management' ? failedNeed(health, 'postgresql') : null;
    if (missing !== null) {
      findings.push(skipped('tokens', missing));
      continue;
    }
    if (tokens[plane] === null) {
      findings.push(
        warn(
          'tokens',
          `No token for ${plane}.`,
          `Log in with the ${kind} or an API key. Run: \`relay login ${server}\``,
        ),
      );
      continue;
    }
    try {
      await call();
      findings.push(ok('tokens', `The server accepted the ${plane} token.`));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      findings.push(
        fail(
          'tokens',
          `The server rejected the ${plane} token: ${error.message}`,
          `Log in with the ${kind} or an API key. Run: \`relay login ${server}\``,
        ),
      );
    }
  }
  return findings;
};

/** Only with access to the database; a running server has migrated its own. */
export const checkMigrations: Check = async ({ surroundings }) => {
  const url = databaseUrlOf(surroundings);
  if (!url) return [];
  try {
    const { migrationCommands } = await import('@relay/server');
    const { pending, unknown } = await migrationCommands.status(url);
    if (pending.length > 0) {
      return [
        fail('migrations', `${count(pending.length, 'migration')} pending.`, 'Run: `relay migrate up`'),
      ];
    }
    if (unknown.length > 0) {
      return [
        fail('migrations', 'The database is newer than this version of Relay.', 'Install the newer version.'),
      ];
    }
    return [ok('migrations', 'The database at DATABASE_URL is up to date.')];
  } catch (error) {
    const message = error instanceof ProgramError || error instanceof Error ? error.message : String(error);
    throw new ProgramError(`Can't read the database at DATABASE_URL: ${message}`, exitCodes.error, {
      fix: 'Check the address, or unset DATABASE_URL.',
    });
  }
};
