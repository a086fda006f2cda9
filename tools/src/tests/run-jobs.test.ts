import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testJob } from './group-files.ts';
import { failuresOf, type Job } from './job.ts';
import { runJob } from './run-job.ts';
import { sayResult } from './say-run.ts';

const passing = "test('holds', () => {});\n";

/** Runs test files of these texts in one process. */
async function runIn(files: Readonly<Record<string, string>>, more: Partial<Job> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'relay-run-jobs-'));
  try {
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(root, name), `import { test } from 'node:test';\n${text}`);
    const job = testJob('unit planted', Object.keys(files), { testMsMax: 500, ...more });
    const result = await runJob(job, { root, logDirectory: root, env: {}, isShown: false });
    const failures = failuresOf(result).map(({ file, name, reason }) => `${file}: ${name}: ${reason}`);
    return { ...result, failures, log: readFileSync(result.logFile, 'utf8') };
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('files that share a process each report their tests', async () => {
  const { tests, failures, cpuS } = await runIn({ 'a.test.ts': passing + passing, 'b.test.ts': passing });
  assert.deepEqual(
    tests.map(({ file }) => file),
    ['a.test.ts', 'a.test.ts', 'b.test.ts'],
  );
  assert.deepEqual(failures, []);
  assert.ok(cpuS > 0);
});

test('a failing test, one past its time and a file that cannot be loaded are counted and named', async () => {
  const { failures } = await runIn({
    'a.test.ts': `${passing}test('breaks', () => { throw new Error('boom'); });\n`,
    'b.test.ts': "test('hangs', async () => { await new Promise((done) => setTimeout(done, 2000)); });\n",
    'c.test.ts': 'throw new Error("cannot load");\n',
  });
  assert.equal(failures.length, 3, failures.join('\n'));
  assert.match(failures.join('\n'), /a\.test\.ts: breaks: .*boom/);
  assert.match(failures.join('\n'), /cannot load/);
});

test('a file without a test and a job without a result fail', async () => {
  assert.match(
    (await runIn({ 'a.test.ts': passing, 'b.test.ts': 'test;\n' })).failures.join(),
    /b\.test\.ts/,
  );
  assert.match((await runIn({ 'a.test.ts': 'process.exit(0);\n' })).failures.join(), /a\.test\.ts/);
});

test('of the tests of a job, only those run whose names contain what was asked for, as it is written', async () => {
  const files = {
    'a.test.ts': `${passing}test('costs $1 (a.b)', () => {});\ntest('costs $1 (acb)', () => {});\n`,
  };
  const names = async (testName: string) => {
    const { tests, failures } = await runIn(files, { testName });
    assert.deepEqual(failures, []);
    return tests.map(({ name }) => name);
  };
  assert.deepEqual(await names('$1 (a.b'), ['costs $1 (a.b)']);
  assert.deepEqual(await names('gone'), []);
});

test('a failure names the command that runs it again', () => {
  const said = (job: string, file: string, name: string) => {
    const failure = { outcome: 'failed', file, name, ms: 0, reason: 'why', isJudged: true } as const;
    const result = { job: testJob(job, [file]), tests: [failure], wallS: 1, cpuS: 1, runDelayS: 0 };
    return sayResult({ ...result, figures: null, logFile: '' })
      .split('\n')
      .at(-3)
      ?.trim();
  };
  const file = 'server/src/kit/a.test.ts';
  assert.equal(said('unit server/src/kit', file, 'holds'), `again: npm test -- ${file} -t "holds"`);
  assert.equal(said('db server/src/kit 2', file, "it's $1"), `again: npm test -- ${file} -t 'it'\\''s $1'`);
  assert.equal(said('system line', 'x', 'holds'), 'again: npm test -- system line -t "holds"');
  assert.equal(
    said('e2e first 1', 'system-tests/src/e2e/keys/keys.e2e.ts', 'a'),
    'again: npm test -- e2e keys -t "a"',
  );
  assert.equal(
    said('unit server/src/kit', file, 'unit server/src/kit ended with status 1'),
    `again: npm test -- ${file}`,
  );
});

test('a job that does not end is killed with what it started, and fails', async () => {
  const text = `${passing}import { spawn } from 'node:child_process';
    test('waits', () => new Promise((_, no) => spawn('sleep', ['60'], { stdio: 'inherit' }).once('error', no)));\n`;
  const { failures } = await runIn({ 'a.test.ts': text }, { msMax: 2_000, testMsMax: 60_000 });
  assert.match(failures.join(), /did not end within/);
});

test('a command counts its own tests, or is one test', async () => {
  const counting = await runIn({}, { command: ['-p', '"3 passed, 1 failed"'] });
  assert.equal(counting.tests.length, 4);
  assert.equal(counting.failures.length, 1);
  assert.deepEqual((await runIn({}, { command: ['-p', '1'] })).failures, []);
  assert.equal((await runIn({}, { command: ['-e', 'process.exit(3)'] })).failures.length, 1);
});
