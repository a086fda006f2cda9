import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base';
import { say } from '../command-line.ts';
import { tokenizers } from './tokenizers.ts';
import { costOf, type WordCost } from './word-costs.ts';

const FILE = resolve(import.meta.dirname, '../../../server/src/protocols/input-bound/generated/words.ts');
const WORDS_MAX = 24_000;
const LINE_LETTERS = 300;

/** The more often a word is written, the earlier a vocabulary has it. Those that only one vocabulary has are seldom words. */
function frequentWords(): readonly string[] {
  const [o200k] = tokenizers;
  const words = cl100k.flatMap((token) => {
    const text = typeof token === 'string' ? token : Buffer.from(token).toString('latin1');
    return /^ [A-Z]?[a-z]+$/.test(text) && o200k?.count(text) === 1 ? [text.slice(1)] : [];
  });
  return words.slice(0, WORDS_MAX);
}

function pack(costs: readonly WordCost[]): string {
  const groups = Map.groupBy(costs, ({ spaced, bare }) => `${spaced} ${bare}`);
  const lines = [...groups].map(([key, group]) => [key, ...group.map(({ word }) => word).sort()].join(' '));
  const text = lines.sort().join('\n');
  return brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 22 } }).toString('base64');
}

/** Measures the words of the bound and writes them to the server, which takes about ten minutes. */
export function writeWords(): void {
  const costs = frequentWords()
    .map(costOf)
    // Letters that are as many tokens need no entry.
    .filter(({ word, spaced }) => spaced <= word.length);
  const packed = pack(costs);
  const lines = packed.match(new RegExp(`.{1,${LINE_LETTERS}}`, 'g')) ?? [];
  const note = '// Written by `npm run bench -- input-bound --write-words`.';
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${note}\nexport const WORDS = \`\n${lines.join('\n')}\n\`;\n`);
  say(`${costs.length} words in ${packed.length} bytes`);
}
