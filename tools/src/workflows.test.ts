// What GitHub runs: nothing that can change under us, no right that a job does not need, and only scripts that exist.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');
const files = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** What is wrong with a workflow, one line each. */
function faultsOf(text: string): string[] {
  const { on, permissions, concurrency, jobs } = parse(text) as Workflow;
  const faults: string[] = [];
  if ('pull_request_target' in on) faults.push('runs code of others with secrets: pull_request_target');
  if (permissions === undefined || Object.keys(permissions).length > 0)
    faults.push('gives every job a right: permissions');
  if (concurrency === undefined) faults.push('has no concurrency');
  for (const line of text.matchAll(/uses: (.*)$/gm))
    if (!/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line[1] ?? ''))
      faults.push(`is not pinned by a commit with its version: ${line[1]}`);
  for (const [name, job] of Object.entries(jobs)) faults.push(...jobFaults(name, job));
  return faults;
}

function jobFaults(name: string, job: Job): string[] {
  const rights = Object.entries(job.permissions ?? {});
  const runs = job.steps.map(({ run }) => run ?? '').join('\n');
  const mayPublish = rights.some(([right, level]) => level === 'write' && right !== 'contents');
  const gone = [...runs.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
    .map((match) => match[1] ?? '')
    .filter((script) => manifest.scripts[script] === undefined);
  return [
    ...(job.permissions === undefined ? [`${name} does not name its rights`] : []),
    ...(job['timeout-minutes'] === undefined ? [`${name} has no time limit`] : []),
    ...(mayPublish && job.environment === undefined ? [`${name} may publish without an environment`] : []),
    ...(mayPublish && /\.ci\/run|npm (ci|test|run)/.test(runs)
      ? [`${name} runs our code with its rights`]
      : []),
    ...(/\$\{\{/.test(runs) ? [`${name} puts an expression into a script`] : []),
    ...gone.map((script) => `${name} runs "${script}", which does not exist`),
  ];
}

for (const { name, text } of files)
  test(`${name} is pinned, least in rights, and runs what exists`, () => {
    assert.deepEqual(faultsOf(text), []);
  });

test('CI and release run the one script that contributors run', () => {
  for (const name of ['ci.yml', 'release.yml'])
    assert.match(files.find((file) => file.name === name)?.text ?? '', /run: bash \.ci\/run\n/);
});

test('each fault is found', () => {
  const text = files.find(({ name }) => name === 'release.yml')?.text ?? '';
  const planted: readonly (readonly [RegExp, string, RegExp])[] = [
    [/@[0-9a-f]{40} # v\d.*/, '@v5', /not pinned/],
    [/ # v5\.0\.0/, '', /not pinned/],
    [/^permissions: \{\}$/m, 'permissions:\n  contents: write', /every job/],
    [/^ {2}push:$/m, '  pull_request_target:\n  push:', /pull_request_target/],
    [/ {4}environment: npm\n/, '', /npm may publish without/],
    [/npm run pack:release/, 'npm run gone', /"gone"/],
    [/sha256sum --check/, 'npm ci && sha256sum --check', /runs our code/],
    [/"\$GITHUB_REF_NAME" =/, '"\u0024{{ github.ref_name }}" =', /expression/],
    [/^concurrency:\n.*\n.*\n/m, '', /concurrency/],
  ];
  for (const [from, to, fault] of planted) {
    const changed = text.replace(from, () => to);
    assert.notEqual(changed, text, String(from));
    assert.match(faultsOf(changed).join('\n'), fault);
  }
});
