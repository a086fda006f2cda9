import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from './check/run-command.ts';

const RUNNER = join(import.meta.dirname, 'run-tests.ts');

async function runIn(files: Readonly<Record<string, string>>, ...args: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'relay-run-tests-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(root, name), `import { test } from 'node:test';\n${text}`);
    }
    const { ok, output } = await runCommand(process.execPath, [RUNNER, `--root=${root}`, ...args], root);
    return { ok, output, lastLine: output.trimEnd().split('\n').at(-1) };
  } finally {
    rmSync(root, { recursive: true });
  }
}

const passing = "test('holds', () => {});\n";

test('the closing line sums over all suites', async () => {
  const { ok, lastLine } = await runIn(
    { 'a.test.ts': passing + passing, 'b.db.test.ts': passing },
    'unit',
    'db',
  );
  assert.equal(lastLine, '3 passed, 0 failed');
  assert.equal(ok, true);
});

test('a failing test, a test past its time and a file that cannot be loaded are counted and named', async () => {
  const files = {
    'a.test.ts': `${passing}test('breaks', () => { throw new Error('boom'); });\n`,
    'b.test.ts': "test('hangs', async () => { await new Promise((done) => setTimeout(done, 2000)); });\n",
    'c.test.ts': 'throw new Error("cannot load");\n',
  };
  const { ok, output, lastLine } = await runIn(files, 'unit', '--timeout-ms=500', '--calm-ms=0');
  assert.equal(lastLine, '1 passed, 3 failed');
  assert.equal(ok, false);
  assert.match(output, /FAILED a\.test\.ts: breaks\n.*boom/);
});

test('a file that fails beside others and passes by itself passes, and is named', async () => {
  const once = `import { existsSync, writeFileSync } from 'node:fs';
    test('is late once', () => {
      const mark = new URL('./ran-before', import.meta.url);
      if (existsSync(mark)) return;
      writeFileSync(mark, '');
      throw new Error('late');
    });\n`;
  const { ok, output, lastLine } = await runIn({ 'a.test.ts': passing + once, 'b.test.ts': passing }, 'unit');
  assert.equal(lastLine, '3 passed, 0 failed');
  assert.equal(ok, true);
  assert.match(output, /^unsteady: a\.test\.ts: is late once$/m);
});

test('a file that does not exit after its tests is ended and counted as a failure', async () => {
  const text = `${passing}import { createServer } from 'node:net';\ncreateServer().listen(0, '127.0.0.1');\n`;
  const { lastLine } = await runIn({ 'a.test.ts': text }, 'unit', '--timeout-ms=500', '--grace-ms=500');
  assert.equal(lastLine, '1 passed, 1 failed');
});

test('a run without a single test fails', async () => {
  assert.equal((await runIn({}, 'unit')).ok, false);
  assert.equal((await runIn({ 'a.test.ts': passing }, 'unit', 'no-such-file')).ok, false);
  assert.equal((await runIn({ 'a.test.ts': 'test;\n' }, 'unit')).lastLine, '0 passed, 1 failed');
});
