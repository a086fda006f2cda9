import { runPiped } from '../cli/run-cli.ts';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { commandsOf, pages } from './documents.ts';
import type { Tells } from './incident.ts';
import { FREE, NAMES, type Name, type Site } from './site.ts';

const ANSWER_MS_MAX = 2_000;

/** `status body`; `unreachable` without an answer. */
export async function probe(site: Site, name: Name, path: '/healthz' | '/readyz'): Promise<string> {
  try {
    const response = await fetch(site.url(name) + path, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return `${response.status} ${await response.text()}`;
  } catch {
    return 'unreachable';
  }
}

export interface DoctorFinding {
  readonly check: string;
  readonly status: 'ok' | 'note' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
}

/** What an operator has who runs commands at the platform. */
function operatorEnvironment(site: Site): Record<string, string> {
  return {
    ...bareEnvironment(),
    ...site.env,
    RELAY_HTTP_ADDR: new URL(site.url('platform')).host,
    HOME: site.directory,
  };
}

/** `relay doctor`, run at the platform with the deployment's own settings, as the documents say. */
async function doctor(site: Site): Promise<readonly DoctorFinding[]> {
  const { stdout, stderr } = await runPiped(['doctor', '--json'], {
    env: operatorEnvironment(site),
    cwd: site.directory,
  });
  try {
    return (JSON.parse(stdout) as { findings: DoctorFinding[] }).findings;
  } catch {
    return [{ check: 'doctor', status: 'fail', message: `${stdout}${stderr}` }];
  }
}

const textOf = ({ message, fix = '' }: DoctorFinding): string => `${message} ${fix}`;

/** The statistics that Home shows, behind how old they are. */
async function home(site: Site): Promise<string> {
  const response = await fetch(`${site.url('platform')}/api/relay/stats/summary`, {
    headers: { authorization: `Bearer ${site.adminToken}` },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const text = await response.text();
  const { complete_until } = JSON.parse(text) as { complete_until?: string | null };
  const ageS = Math.round((Date.now() - Date.parse(complete_until ?? '')) / 1_000);
  return `complete until ${ageS} s ago: ${text}`;
}

/** How many lines each process had written. */
export type LogPlaces = ReadonlyMap<Name, number>;

export const logPlaces = ({ processes }: Site): LogPlaces =>
  new Map(NAMES.map((name) => [name, processes[name].logs.length]));

/** A process that was started again has a log of its own, which is shorter. */
export function linesSince({ processes }: Site, places: LogPlaces): Record<string, unknown>[] {
  return NAMES.flatMap((name) => {
    const { logs } = processes[name];
    const from = places.get(name) ?? 0;
    return logs.slice(from > logs.length ? 0 : from).map((line) => ({ name, ...line }));
  });
}

/** Those who have not told yet, each with what it said instead. */
export async function silentTellers(site: Site, tells: Tells, since: LogPlaces): Promise<string[]> {
  const silent: string[] = [];
  if (tells.alerts !== undefined) {
    const firing = await site.prometheus.firing();
    const missing = tells.alerts.filter((name) => !firing.includes(name));
    if (missing.length > 0) silent.push(`${missing.join(', ')}: ${firing.join(', ') || 'no alert'}`);
  }
  for (const path of ['healthz', 'readyz'] as const)
    for (const name of NAMES) {
      const words = tells[path]?.[name];
      if (words === undefined) continue;
      const said = await probe(site, name, `/${path}`);
      if (!words.test(said)) silent.push(`/${path} of ${name}: ${said.slice(0, 400)}`);
    }
  const { log } = tells;
  if (log !== undefined) {
    const lines = linesSince(site, since);
    const isTold = lines.some((line) => log.test(JSON.stringify(line)));
    if (!isTold) silent.push(`the logs: ${lines.length} lines`);
  }
  // The dearest ones last, once the others have told.
  if (silent.length > 0) return silent;
  const { doctor: words, home: figures } = tells;
  if (words !== undefined) {
    const findings = (await doctor(site)).filter(({ status }) => status !== 'ok');
    const said = findings.map(textOf);
    if (!said.some((each) => words.test(each)))
      silent.push(`doctor: ${said.join(' | ').slice(0, 600) || 'ok'}`);
  }
  if (figures !== undefined) {
    const said = await home(site).catch(String);
    if (!figures.test(said)) silent.push(`Home: ${said.slice(0, 400)}`);
  }
  return silent;
}

/** Places in which one of these words stands although it is wrong. */
export async function wrongAdvice(site: Site, never: readonly RegExp[]): Promise<string[]> {
  if (never.length === 0) return [];
  const said = [
    ...(await doctor(site)).map(textOf),
    ...(await Promise.all(NAMES.map((name) => probe(site, name, '/healthz')))),
  ];
  return said.filter((text) => never.some((words) => words.test(text)));
}

/** Exit code of a command line that the program does not understand. */
const USAGE = 2;

/** The commands of the pages that an operator reads in an incident, run as they stand. Those that the program rejects as such. */
export async function wrongCommands(site: Site, incident: string): Promise<string[]> {
  const placeholders = { ENDPOINT: site.ids.endpointIds[FREE] ?? '', LANE: site.ids.laneIds[FREE] ?? '' };
  const wrong: string[] = [];
  for (const [page, followed] of Object.entries(pages)) {
    if (!Array.isArray(followed) || followed[0] !== incident) continue;
    for (const command of commandsOf(page, placeholders)) {
      const { code, stderr } = await runPiped(command, {
        env: operatorEnvironment(site),
        cwd: site.directory,
      });
      if (code === USAGE) wrong.push(`${page}: relay ${command.join(' ')}: ${stderr}`);
    }
  }
  return wrong;
}
