import { inputRandom } from './input-random.ts';
import type { FindingKind } from './judge.ts';
import { tagOf } from './raw-provider.ts';
import { compareRows } from './rows.ts';
import { type Ground, type Site, startSite } from './site.ts';
import { targetOf } from './targets.ts';

export interface FuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  readonly only: string | undefined;
  /** The number of the one input that is sent; null for all. */
  readonly replayed: number | null;
}

export interface FuzzFigures {
  inputs: number;
  crashes: number;
  off_contract: number;
  five_xx: number;
  lost: number;
  duplicated: number;
  readonly by_target: Record<string, number>;
}

const BATCH = 2_000;
const CLIENTS = 48;
const SHOWN_MAX = 40;
const FIGURE_OF = { crash: 'crashes', off_contract: 'off_contract', five_xx: 'five_xx' } as const;

/** Sends the inputs, batch by batch, each batch to organizations of its own. */
export async function runInputs(options: FuzzOptions): Promise<FuzzFigures> {
  const figures: FuzzFigures = {
    inputs: 0,
    crashes: 0,
    off_contract: 0,
    five_xx: 0,
    lost: 0,
    duplicated: 0,
    by_target: {},
  };
  const findings = new Map<string, number>();
  process.stdout.write(`fuzz, seed ${options.seed}\n`);
  const site = await startSite();
  try {
    const [first, end] =
      options.replayed === null ? [0, options.inputs] : [options.replayed, options.replayed + 1];
    for (let from = first; from < end; from += BATCH) {
      await runBatch(site, options, { from, to: Math.min(end, from + BATCH) }, figures, findings);
      const isAlive = await alive(site);
      if (isAlive) continue;
      figures.crashes += 1;
      process.stdout.write(
        `a process ended, or answers no more, between the inputs ${from} and ${from + BATCH}\n`,
      );
      break;
    }
    figures.crashes += reportLogs(site);
  } finally {
    await site.stop();
  }
  const hidden = [...findings.values()].reduce((sum, count) => sum + count, 0);
  if (findings.size > 0) process.stdout.write(`${findings.size} different findings, ${hidden} in all\n`);
  return figures;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

async function runBatch(
  site: Site,
  options: FuzzOptions,
  { from, to }: Range,
  figures: FuzzFigures,
  findings: Map<string, number>,
): Promise<void> {
  const ground = await site.furnish();
  const crashed: string[] = [];
  const note = noteInto(options, figures, findings, crashed);
  let next = from;
  async function client(): Promise<void> {
    while (next < to) {
      const index = next;
      next += 1;
      await oneInput(site, ground, options, index, note);
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client));
  showCauses(site, crashed);
  const { lost, duplicated } = await compareRows(site, ground);
  figures.lost += lost;
  figures.duplicated += duplicated;
}

type Note = (found: {
  index: number;
  target: string;
  kind: FindingKind | null;
  why: string;
  shown: string;
}) => void;

async function oneInput(
  site: Site,
  ground: Ground,
  options: FuzzOptions,
  index: number,
  note: Note,
): Promise<void> {
  const random = inputRandom(options.seed, index, 'input');
  const target = targetOf(random, options.only);
  const tag = tagOf(options.seed, index);
  const { verdict, shown, status } = await target.one({ random, site, ground, tag });
  if (options.replayed !== null) process.stdout.write(`${target.name} ${status} ${shown}\n`);
  note({ index, target: target.name, kind: verdict?.kind ?? null, why: verdict?.why ?? '', shown });
}

/** Counts, and shows the first of every kind of finding with how to send it again. */
function noteInto(
  { seed, only }: FuzzOptions,
  figures: FuzzFigures,
  findings: Map<string, number>,
  crashed: string[],
): Note {
  return ({ index, target, kind, why, shown }) => {
    figures.inputs += 1;
    figures.by_target[target] = (figures.by_target[target] ?? 0) + 1;
    if (kind === null) return;
    figures[FIGURE_OF[kind]] += 1;
    if (kind === 'crash') crashed.push(why);
    const sort = `${kind} ${target} ${why.split(': ', 1)[0]} ${shown
      .split('?', 1)[0]
      ?.replaceAll(/[0-9a-f-]{36}/g, 'ID')
      .slice(0, 60)}`;
    const count = (findings.get(sort) ?? 0) + 1;
    findings.set(sort, count);
    if (count > 1 || findings.size > SHOWN_MAX) return;
    const again = `--seed ${seed} --replay ${index}${only === undefined ? '' : ` --only ${only}`}`;
    process.stdout.write(`${kind} (${again})\n  ${why.slice(0, 500)}\n  ${shown.slice(0, 700)}\n`);
  };
}

/** What the log says about requests that failed unexpectedly: many fail only beside others, and not when sent again. */
function showCauses({ processes }: Site, crashed: readonly string[]): void {
  if (crashed.length === 0) return;
  const lines = processes
    .flatMap(({ logs }) => logs)
    .filter(({ request_id: id }) => typeof id === 'string' && crashed.some((why) => why.includes(id)));
  for (const line of lines.slice(0, SHOWN_MAX))
    process.stdout.write(`  log: ${JSON.stringify(line).slice(0, 2_000)}\n`);
}

async function alive({ processes, client }: Site): Promise<boolean> {
  for (const { url } of processes) {
    const { status } = await client.ask(url, { method: 'GET', path: '/readyz', headers: {} });
    if (status !== 200) return false;
  }
  return processes.every(({ pid }) => isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Errors that a process logged though no client saw them. */
function reportLogs({ processes }: Site): number {
  const lines = processes
    .flatMap(({ logs }) => logs)
    .filter(({ level, msg }) => level === 'fatal' || /unhandled|uncaught/i.test(String(msg)));
  for (const line of lines.slice(0, SHOWN_MAX))
    process.stdout.write(`crash in a log: ${JSON.stringify(line).slice(0, 600)}\n`);
  return lines.length;
}
