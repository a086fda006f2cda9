import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { keySnippets } from './key-snippets.ts';

const plain = { server: 'https://relay.example.com', key: 'rly_abc', model: 'demo' };
/** Nothing forbids such names of models. */
const odd = { ...plain, model: `it's "$HOME" \\ \`id\`` };

function codeOf(id: string, use: typeof plain): string {
  return keySnippets(use).find((snippet) => snippet.id === id)?.code ?? '';
}

describe('snippets of a key', () => {
  it('have the address, the key and the model', () => {
    for (const { id, code } of keySnippets(plain))
      for (const part of Object.values(plain)) assert.ok(code.includes(part), `${id}: ${part}`);
  });

  for (const use of [plain, odd]) {
    it(`mean the model ${use.model} in a shell and in JavaScript`, () => {
      const inShell = (script: string) => execFileSync('sh', ['-c', script], { encoding: 'utf8' });
      const sent = inShell(`curl() { for last; do :; done; printf %s "$last"; }\n${codeOf('curl', use)}`);
      assert.equal(JSON.parse(sent).model, use.model);
      const set = inShell(`${codeOf('claude-code', use)}\nprintf %s "$ANTHROPIC_DEFAULT_HAIKU_MODEL"`);
      assert.equal(set, use.model);
      const [, literal = ''] = /model: (.*),\n/.exec(codeOf('javascript', use)) ?? [];
      const shown = execFileSync(process.execPath, ['-p', literal], { encoding: 'utf8' });
      assert.equal(shown, `${use.model}\n`);
    });
  }
});
