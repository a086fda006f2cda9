import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Block {
  readonly language: string;
  /** The file name after the language, which tells the reader to save the block. */
  readonly file: string | null;
  readonly text: string;
}

const DOCUMENT = join(import.meta.dirname, '../../../docs/start/one-minute.md');

/** The fenced blocks of the page, in order. */
export function readBlocks(): Block[] {
  const text = readFileSync(DOCUMENT, 'utf8');
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(
    ([, language = '', file = null, body = '']) => ({ language, file, text: body }),
  );
}

/** Every line of the shell blocks, in order: one command each. */
export function commandsOf(blocks: readonly Block[]): string[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trimEnd().split('\n'))
    .filter((line) => line !== '');
}
