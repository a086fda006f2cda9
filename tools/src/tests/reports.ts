import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { JobResult } from './job.ts';
import { keyOf, type NamedTest, type Verdict } from './judge-run.ts';
import type { Weight } from './run-pool.ts';

const REPORTS_KEPT = 10;
const COMMITTED_WEIGHTS = join(import.meta.dirname, 'job-weights.json');

/** The report of one run, `report.json`. */
export interface Report {
  readonly seed: string;
  readonly wall_s: number;
  readonly cpu_s: number;
  /** Seconds, over all cores, that the host gave to others during the run. */
  readonly stolen_s: number;
  /** Seconds, over all cores, in which nothing was ready to run: what a better order of the jobs could save. */
  readonly idle_s: number;
  readonly passed: number;
  readonly failed: number;
  readonly unsteady: readonly NamedTest[];
  readonly not_judged: readonly NamedTest[];
  readonly jobs: Readonly<
    Record<string, { wall_s: number; cpu_s: number; run_delay_s: number; passed: number; failed: number }>
  >;
}

/** A folder for each run, in `RELAY_REPORTS_DIR`: `report.json`, `junit.xml` and the logs. */
export interface ReportFolder {
  readonly path: string;
  /** Reports of earlier runs, the newest last. */
  readonly earlier: readonly Report[];
}

export function openReportFolder(name: string): ReportFolder {
  const path = join(reportsDirectory(), name);
  mkdirSync(path, { recursive: true });
  const names = reportNames().filter((each) => each !== name);
  for (const old of names.splice(0, Math.max(0, names.length - REPORTS_KEPT)))
    rmSync(join(reportsDirectory(), old), { recursive: true, force: true });
  return { path, earlier: names.map(reportNamed) };
}

function reportsDirectory(): string {
  return process.env['RELAY_REPORTS_DIR'] ?? join(homedir(), '.cache/relay-reports');
}

function reportNames(): string[] {
  const all = reportsDirectory();
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .filter((name) => existsSync(join(all, name, 'report.json')))
    .sort();
}

function reportNamed(name: string): Report {
  return JSON.parse(readFileSync(join(reportsDirectory(), name, 'report.json'), 'utf8')) as Report;
}

/** The newest weight of every job; a machine without reports has the committed ones. */
export function weightsOf(reports: readonly Report[]): Map<string, Weight> {
  const weights = new Map<string, Weight>(Object.entries(committedWeights()));
  for (const { jobs } of reports)
    for (const [name, job] of Object.entries(jobs)) weights.set(name, weightOf(job));
  return weights;
}

function weightOf({ wall_s, cpu_s, run_delay_s }: Report['jobs'][string]): Weight {
  return { wallS: tenths(Math.max(0.1, wall_s - run_delay_s)), cpuS: cpu_s };
}

function committedWeights(): Readonly<Record<string, Weight>> {
  return JSON.parse(readFileSync(COMMITTED_WEIGHTS, 'utf8')) as Readonly<Record<string, Weight>>;
}

/** Writes the weights that a machine without reports begins with, from the newest report. */
export function commitWeights(): void {
  const newest = reportNames().at(-1);
  if (newest === undefined) throw new Error('no run has left a report');
  const jobs = Object.entries(reportNamed(newest).jobs);
  const lines = jobs.map(([name, job]) => {
    const { wallS, cpuS } = weightOf(job);
    return `  ${JSON.stringify(name)}: { "wallS": ${wallS}, "cpuS": ${cpuS} }`;
  });
  writeFileSync(COMMITTED_WEIGHTS, `{\n${lines.sort().join(',\n')}\n}\n`);
}

/** Tests that are unsteady for the second time within the reports that are kept. */
export function unsteadyAgain(verdict: Verdict, earlier: readonly Report[]): NamedTest[] {
  const before = new Set(earlier.flatMap(({ unsteady }) => unsteady.map(keyOf)));
  return verdict.unsteady.filter((test) => before.has(keyOf(test)));
}

/** What is of the run, and not of its jobs. */
interface Totals {
  readonly seed: string;
  readonly wallS: number;
  readonly stolenS: number;
  readonly idleS: number;
}

export function reportOf(verdict: Verdict, totals: Totals): Report {
  const counted = (result: JobResult) => ({
    passed: result.tests.filter(({ outcome }) => outcome === 'passed').length,
    failed: result.tests.filter((test) => test.outcome === 'failed' && test.isJudged).length,
  });
  const jobs = Object.fromEntries(
    verdict.results.map((result) => [
      result.job.name,
      {
        wall_s: tenths(result.wallS),
        cpu_s: tenths(result.cpuS),
        run_delay_s: tenths(result.runDelayS),
        ...counted(result),
      },
    ]),
  );
  const sum = (field: 'cpu_s' | 'passed' | 'failed') =>
    Object.values(jobs).reduce((all, each) => all + each[field], 0);
  return {
    seed: totals.seed,
    wall_s: tenths(totals.wallS),
    cpu_s: tenths(sum('cpu_s')),
    stolen_s: tenths(totals.stolenS),
    idle_s: tenths(totals.idleS),
    passed: sum('passed'),
    failed: sum('failed'),
    unsteady: verdict.unsteady,
    not_judged: verdict.notJudged,
    jobs,
  };
}

export function writeReport({ path }: ReportFolder, report: Report, results: readonly JobResult[]): void {
  writeFileSync(join(path, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(path, 'junit.xml'), junitOf(results));
}

function junitOf(results: readonly JobResult[]): string {
  const suites = results.map(({ job, tests, wallS }) => {
    const cases = tests.map((test) => {
      const open = `    <testcase classname="${escaped(test.file)}" name="${escaped(test.name)}" time="${test.ms / 1_000}"`;
      return test.outcome === 'passed'
        ? `${open}/>\n`
        : `${open}>\n      <failure>${escaped(test.reason)}</failure>\n    </testcase>\n`;
    });
    const failures = tests.filter(({ outcome }) => outcome === 'failed').length;
    const head = `name="${escaped(job.name)}" tests="${tests.length}" failures="${failures}" time="${tenths(wallS)}"`;
    return `  <testsuite ${head}>\n${cases.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML has no way to write most control characters. */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '?');
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
