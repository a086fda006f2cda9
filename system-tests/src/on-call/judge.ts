import { afterMs, until } from '../harness/until.ts';
import { type Broken, type Incident, REMEMBER, STARTING } from './incident.ts';
import { FREE, LIMITED, NAMES, type Site } from './site.ts';
import {
  type LogPlaces,
  linesSince,
  logPlaces,
  probe,
  silentTellers,
  wrongAdvice,
  wrongCommands,
} from './tellers.ts';

export interface Verdict {
  readonly silent: readonly string[];
  readonly falseAlarms: readonly string[];
  readonly wrongAdvice: readonly string[];
  /** Requests that failed in a way that the row does not allow, by `status code`. */
  readonly surprises: Readonly<Record<string, number>>;
  readonly notHealed: readonly string[];
  /** The warnings and errors of all processes meanwhile, each once. */
  readonly warnings: readonly string[];
  readonly toldMs: number;
  readonly healedMs: number;
}

const TOLD_MS_MAX = 45_000;
const HEALED_MS_MAX = 45_000;
const LOOK_EVERY_MS = 500;
/** Requests in a row that must be served. */
const SERVED_AGAIN = 30;
const USUAL_LANES = [LIMITED, FREE, LIMITED];

/** Lives through one incident: makes it, waits until everybody has told who must, makes it good, and waits until all is well. */
export async function judge(site: Site, incident: Incident): Promise<Verdict> {
  const { tells, may = [], never = [], lastsMs = 0 } = incident;
  const logs = logPlaces(site);
  const before = new Set(await site.prometheus.firing());
  const first = site.load.served.length;
  site.load.name(incident.name.replaceAll(/\W+/g, '-'));
  if (incident.lanes !== undefined) site.load.use(incident.lanes);
  const startMs = performance.now();
  const fired = new Set<string>();
  let silent: string[] = [];
  let advice: string[] = [];
  let broken: Broken | null = null;
  try {
    broken = await incident.breaks(site);
    const isTold = async () => {
      for (const name of await site.prometheus.firing()) fired.add(name);
      silent = await silentTellers(site, tells, logs);
      if (tells.refusal !== undefined && !tells.refusal.test(broken?.refusal ?? 'it started'))
        silent.push(`the refusal: ${broken?.refusal ?? 'it started'}`);
      return silent.length === 0;
    };
    await until(isTold, TOLD_MS_MAX, LOOK_EVERY_MS);
    advice = [...(await wrongAdvice(site, never)), ...(await wrongCommands(site, incident.name))];
    await afterMs(Math.max(0, lastsMs - (performance.now() - startMs)));
  } finally {
    await broken?.heals();
  }
  const toldMs = Math.round(performance.now() - startMs);
  site.load.use(USUAL_LANES);
  const healedFromMs = performance.now();
  const notHealed = await healed(site, new Set(tells.alerts), fired);
  const allowed = new Set<string>([...(tells.alerts ?? []), ...may, ...STARTING, ...REMEMBER, ...before]);
  return {
    silent,
    falseAlarms: [...fired].filter((name) => !allowed.has(name)),
    wrongAdvice: advice,
    surprises: surprisesOf(site, first, incident.clients),
    notHealed,
    warnings: warningsOf(site, logs),
    toldMs,
    healedMs: Math.round(performance.now() - healedFromMs),
  };
}

/** What is not well when the time is up. */
async function healed(site: Site, alerts: ReadonlySet<string>, fired: Set<string>): Promise<string[]> {
  let ill: string[] = [];
  const fromCount = site.load.served.length;
  const isWell = async () => {
    ill = [];
    const { served } = site.load;
    const last = served.slice(-SERVED_AGAIN);
    const failed = last.filter(({ code }) => code !== null);
    if (served.length - fromCount < SERVED_AGAIN) ill.push('too few requests yet');
    else if (failed.length > 0)
      ill.push(`${failed.length} of the last ${SERVED_AGAIN} failed: ${failed.at(-1)?.code}`);
    for (const name of NAMES) {
      const said = await probe(site, name, '/healthz');
      if (!said.startsWith('200 {"status":"ok"')) ill.push(`${name}: ${said.slice(0, 300)}`);
    }
    const firing = await site.prometheus.firing();
    for (const name of firing) fired.add(name);
    const still = firing.filter((name) => alerts.has(name) && !REMEMBER.includes(name));
    if (still.length > 0) ill.push(`still firing: ${still.join(', ')}`);
    return ill.length === 0;
  };
  await until(isWell, HEALED_MS_MAX, LOOK_EVERY_MS);
  return ill;
}

function warningsOf(site: Site, since: LogPlaces): string[] {
  const words = linesSince(site, since)
    .filter(({ level }) => level === 'warn' || level === 'error' || level === 'fatal')
    .map(
      ({ name, msg, err, why }) =>
        `${name}: ${String(msg)} ${JSON.stringify(why ?? err ?? '').slice(0, 160)}`,
    );
  return [...new Set(words)];
}

function surprisesOf({ load }: Site, first: number, clients: RegExp | undefined): Record<string, number> {
  const failed = load.served.slice(first).filter(({ code }) => code !== null);
  const words = failed.map(({ status, code }) => `${status} ${code}`);
  const surprises = words.filter((each) => clients === undefined || !clients.test(each));
  return Object.fromEntries(
    [...Map.groupBy(surprises, (each) => each)].map(([each, list]) => [each, list.length]),
  );
}
