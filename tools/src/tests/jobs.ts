import { join } from 'node:path';
import { listFiles } from '../check/source-files.ts';
import { steps } from '../check/steps.ts';
import { embeddedFiles } from './embedded-files.ts';
import { embeddedSuites } from './embedded-suites.ts';
import { groupFiles, testJob } from './group-files.ts';
import type { Job } from './job.ts';

/** Names that a command line may use; `job.name` begins with one. */
export const suiteNames = [
  'build',
  'check',
  'unit',
  'db',
  'embedded',
  'system',
  'on-embedded',
  'e2e',
  'faults',
  'bench',
] as const;

const SUITE = /^system-tests\/src\/([^/]+)\/\1\.suite\.ts$/;
const STORY = /^system-tests\/src\/e2e\/([^/]+)\.e2e\.ts$/;

/** Suites that hold bounds on time so tight that a second suite on two cores breaks them. */
const ALONE: readonly string[] = ['system admission', 'system neighbours'];
/** Suites whose bounds are that tight only in the long form. */
const ALONE_WHEN_LONG: readonly string[] = ['system streams'];

/** Jobs that `.ci/run` leaves to `--all`, each with the job of `.ci/run` that sees most of what it would: both are dear. */
export const onlyInAll: Readonly<Record<string, string>> = {
  'db testbed': 'db server/src/store',
  'embedded server/src/management': 'db server/src/management',
  'embedded server/src/metering': 'db server/src/metering',
  'embedded server/src/store': 'db server/src/store',
  'system agents': 'system clients',
  'system alerts': 'db server/src/alerts',
  'system billing': 'db server/src/management',
  'system budgets': 'system hard-caps',
  'system context-attacks': 'system evasion',
  'system embedded': 'system first-use',
  'system failover': 'faults chaos',
  'system health': 'system fault-matrix',
  'system identity': 'db server/src/store',
  'system jetstream': 'db server/src/metering',
  'system line': 'system admission',
  'system local-model': 'db cli',
  'system mail': 'db server/src/edge',
  'system neighbours': 'system evasion',
  'system on-call': 'system telemetry',
  'system operate': 'system telemetry',
  'system outage': 'faults chaos',
  'system rolling': 'faults chaos',
  'system rotation': 'db server/src/main',
  'system sessions': 'db server/src/edge',
  'system stores': 'db server/src/admission',
  'system teams': 'db server/src/edge',
  'system translations': 'unit server/src/protocols',
  'system ways-in': 'system revocation',
  'system ways-out': 'db server/src/edge',
  'system what-if': 'db server/src/management',
  'faults embedded': 'faults chaos',
  'faults image': 'build package',
};

const SUITE_MS_MAX = 15 * 60_000;
const LONG_MS_MAX = 60 * 60_000;
/** Some 70 incidents, each for as long as an alert takes; one of them fills a disk of its own. */
const ON_CALL: Partial<Job> = { msMax: LONG_MS_MAX, testMsMax: LONG_MS_MAX, isRoot: true };
/** The stories of `.ci/run`: what every user of the console does first. The others are in `--all`. */
const FIRST_STORIES: readonly string[] = ['first-answer', 'frame', 'keys', 'limits'];
/** Groups of the first stories, and of the others. */
const STORY_GROUPS = 2;

/** Gives the seed of the run to every property of fast-check. */
const SEED = './testbed/src/seed-fast-check.ts';

const SIMULATION = 'server/src/main/simulation/run.fixture.ts';

const PACKAGE = 'build package';
const CONSOLE = 'build console';
const BUILD_CONSOLE = "import('./system-tests/src/e2e/build-console.ts').then((m) => m.buildConsole('.'))";
const PACKAGE_ENTRY = 'dist/relay-gateway/bin/relay.js';

export interface JobsOptions {
  /** Black-box suites run the built package. False: they run from source, or what `RELAY_SYSTEM_BIN` names. */
  readonly onPackage: boolean;
  /** The long forms: more cases, larger sizes, tighter bounds. */
  readonly isLong: boolean;
}

/** Every job there is, in both tiers. */
export function allJobs(root: string, { onPackage, isLong }: JobsOptions): Job[] {
  const paths = listFiles(root);
  const product: Product = onPackage
    ? { needs: [PACKAGE], env: { RELAY_SYSTEM_BIN: join(root, PACKAGE_ENTRY) } }
    : { needs: [], env: {} };
  const build = onPackage
    ? commandJob(PACKAGE, ['tools/src/build.ts', '--pack'])
    : commandJob(CONSOLE, ['--eval', BUILD_CONSOLE]);
  const form: Record<string, string> = isLong ? { RELAY_SYSTEM_LONG: '1' } : {};
  const tested = { ...product, env: { ...product.env, ...form } };
  const jobs = [
    ...checkJobs(),
    build,
    ...fileJobs(paths, form),
    ...suiteJobs(paths, tested),
    // From source, the server serves the console that was built last.
    ...(onPackage ? groupedStoryJobs(paths, tested) : storyJobs(paths, { ...tested, needs: [CONSOLE] })),
    ...faultJobs(product, isLong),
    // Fails when a request, or a part of it, got dearer than the committed figures.
    commandJob('bench cost', ['bench/src/run.ts', 'cost', '--no-build'], {
      needs: [build.name],
      isAlone: true,
    }),
  ];
  return jobs.map((job) => ({
    ...job,
    tier: Object.hasOwn(onlyInAll, job.name) ? 'all' : job.tier,
    isAlone: job.isAlone || ALONE.includes(job.name) || (isLong && ALONE_WHEN_LONG.includes(job.name)),
  }));
}

type Product = Pick<Job, 'needs' | 'env'>;

function checkJobs(): Job[] {
  const checks = steps
    .filter(({ name }) => name !== 'unit')
    .map(({ name }) => commandJob(`check ${name}`, ['tools/src/check.ts', `--only=${name}`]));
  return [...checks, commandJob('check site', ['site/src/main.ts'], { tier: 'since' })];
}

function fileJobs(paths: readonly string[], form: Readonly<Record<string, string>>): Job[] {
  const missing = embeddedFiles.filter((path) => !paths.includes(path));
  if (missing.length > 0) throw new Error(`these tests no longer exist: ${missing.join(', ')}`);
  const isDatabaseTest = (path: string) => path.endsWith('.db.test.ts');
  const unit = paths.filter((path) => path.endsWith('.test.ts') && !isDatabaseTest(path));
  const tierOf = (folder: string) => (folder.startsWith('tools') ? 'all' : 'run');
  const jobs = (
    suite: 'unit' | 'db' | 'embedded',
    files: readonly string[],
    env: Record<string, string> = {},
  ) =>
    groupFiles(files, suite).map(({ folder, files: members }) =>
      testJob(`${suite} ${folder}`, members, {
        tier: tierOf(folder),
        env: { ...form, ...env },
        command: ['--import', SEED],
      }),
    );
  return [
    ...jobs('unit', unit),
    ...jobs('db', paths.filter(isDatabaseTest)),
    ...jobs('embedded', embeddedFiles, { TEST_STORE: 'embedded' }),
  ];
}

function suiteJobs(paths: readonly string[], product: Product): Job[] {
  const msMax = Object.hasOwn(product.env, 'RELAY_SYSTEM_LONG') ? LONG_MS_MAX : SUITE_MS_MAX;
  const common = { ...product, testMsMax: msMax, msMax };
  return namedBy(SUITE, paths).flatMap(([suite, path]) => {
    const more = suite === 'on-call' ? ON_CALL : {};
    const job = testJob(`system ${suite}`, [path], { ...common, ...more });
    if (!embeddedSuites.includes(suite)) return [job];
    const env = { ...common.env, RELAY_SYSTEM_STORES: 'embedded' };
    return [job, { ...job, name: `on-embedded ${suite}`, tier: 'all', env }];
  });
}

function storyJobs(paths: readonly string[], product: Product): Job[] {
  return namedBy(STORY, paths).map(([story, path]) =>
    testJob(`e2e ${story}`, [path], { ...product, testMsMax: 5 * 60_000 }),
  );
}

/** Stories of a process share a browser. Several groups, so that a core is not left with one long job at the end. */
function groupedStoryJobs(paths: readonly string[], product: Product): Job[] {
  const stories = namedBy(STORY, paths);
  const isFirst = ([story]: readonly [string, string]) => FIRST_STORIES.includes(story);
  const groups = (name: string, tier: Job['tier'], members: readonly [string, string][]) =>
    Array.from({ length: STORY_GROUPS }, (_, group) => {
      const files = members.filter((_story, index) => index % STORY_GROUPS === group).map(([, path]) => path);
      return testJob(`e2e ${name} ${group + 1}`, files, { ...product, tier, testMsMax: 5 * 60_000 });
    });
  return [
    ...groups('first', 'run', stories.filter(isFirst)),
    ...groups(
      'other',
      'all',
      stories.filter((story) => !isFirst(story)),
    ),
  ];
}

function namedBy(pattern: RegExp, paths: readonly string[]): [string, string][] {
  return paths.flatMap((path) => {
    const [, name] = pattern.exec(path) ?? [];
    return name === undefined ? [] : [[name, path]];
  });
}

/** Kills, malformed input, and the container image; each counts its own checks. */
function faultJobs(product: Product, isLong: boolean): Job[] {
  const onlyInAll = { ...product, tier: 'all', msMax: LONG_MS_MAX } as const;
  const chaos = ['system-tests/src/chaos/run.ts'];
  return [
    commandJob('faults chaos', [...chaos, '--short'], product),
    commandJob('faults embedded', [...chaos, 'embedded', '--short'], product),
    commandJob(
      'faults fuzz',
      ['system-tests/src/fuzz/run.ts', '--inputs', isLong ? '20000' : '3000'],
      product,
    ),
    commandJob('faults image', ['tools/src/image.ts', '--check'], { isRoot: true }),
    commandJob('faults sinks', [...chaos, 'sinks', '--short'], onlyInAll),
    commandJob('faults disk', [...chaos, 'disk', '--short'], { ...onlyInAll, isRoot: true }),
    commandJob('faults simulation', [SIMULATION, '--seeds', '400'], onlyInAll),
    commandJob('faults bugs', [SIMULATION, '--seeds', '60', '--planted', 'all'], onlyInAll),
    commandJob('faults planted', ['tools/src/faults.ts'], { ...onlyInAll, msMax: 6 * LONG_MS_MAX }),
  ];
}

function commandJob(name: string, command: readonly string[], more: Partial<Job> = {}): Job {
  return testJob(name, [], { command, ...more });
}
