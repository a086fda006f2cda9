import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const SCRIPT = `
import { parseArgs } from 'node:util';
import { runCommand, wholeNumber } from ${JSON.stringify(new URL('./run-command.ts', import.meta.url).href)};
await runCommand('usage: script --seed N\\n', async (args) => {
  const { values } = parseArgs({ args: [...args], options: { seed: { type: 'string', default: '1' } } });
  if (wholeNumber('--seed', values.seed) === 7) throw new Error('a defect');
  return 0;
}, process.argv.slice(1));`;

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', SCRIPT, '--', ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

describe('a script', () => {
  it('tells how it is used, and runs nothing', () => {
    assert.deepEqual(run('--help'), { status: 0, stdout: 'usage: script --seed N\n', stderr: '' });
  });

  it('answers a wrong command line with a message and the usage, without a stack', () => {
    for (const args of [['--sede', '1'], ['--seed', 'x'], ['--seed'], ['--seed', '-1'], ['more']]) {
      const { status, stderr } = run(...args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, /usage: script --seed N\n$/);
      assert.doesNotMatch(stderr, / at .*:\d+:\d+/);
    }
  });

  it('shows where a defect is', () => {
    const { status, stderr } = run('--seed', '7');
    assert.equal(status, 1);
    assert.match(stderr, /Error: a defect[\s\S]* at /);
  });
});
