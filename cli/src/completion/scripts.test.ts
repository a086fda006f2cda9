import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { Command, Option } from 'commander';
import { commandWords } from './command-words.ts';
import { completionScript } from './scripts.ts';

function program(): Command {
  const root = new Command('relay');
  const lanes = root.command('lanes').description('lanes');
  lanes
    .command('list')
    .addOption(new Option('-o, --output <format>', "how it's printed").choices(['table', 'json']));
  lanes.command('members').command('add').option('--rank <number>', 'the rank');
  return root;
}

/** What bash offers after these words. */
function offered(...words: string[]): string[] {
  const script = `${completionScript('bash', commandWords(program()))}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _relay; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

describe('the bash completion', () => {
  it('offers commands, then subcommands, then options', () => {
    assert.deepEqual(offered('relay', 'la'), ['lanes']);
    assert.deepEqual(offered('relay', 'lanes', 'm'), ['members']);
    assert.deepEqual(offered('relay', 'lanes', 'members', 'add', '--r'), ['--rank']);
  });

  it('offers the values of an option with a closed list', () => {
    assert.deepEqual(offered('relay', 'lanes', 'list', '-o', ''), ['table', 'json']);
    assert.deepEqual(offered('relay', 'lanes', 'list', '--output', 'j'), ['json']);
  });

  it('ignores words that are not commands', () => {
    assert.deepEqual(offered('relay', 'lanes', 'members', 'add', 'my lane', '--ra'), ['--rank']);
  });
});
