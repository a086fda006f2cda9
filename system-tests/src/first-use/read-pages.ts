import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `run`: executed. `output`: each line is in what the block before printed. `not-run`: the text above says so. */
const MARKS: readonly string[] = ['run', 'output', 'not-run'];

export interface Block {
  readonly line: number;
  readonly language: string;
  /** The rest of the opening fence: a mark, or the name of the file that the reader saves. */
  readonly mark: string;
  readonly text: string;
  /** The paragraph above the block. */
  readonly above: string;
}

export interface Page {
  /** Its path in the repository. */
  readonly name: string;
  readonly blocks: readonly Block[];
}

const ROOT = join(import.meta.dirname, '../../..');
const DIRECTORY = 'docs/clients';

/** The pages in docs/clients, with their fenced blocks in order. */
export function readPages(): Page[] {
  return readdirSync(join(ROOT, DIRECTORY))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => readPage(`${DIRECTORY}/${file}`));
}

/** The README's JavaScript, which shows readers no mark. */
export function readReadme(): Page {
  const { name, blocks } = readPage('README.md');
  const shown = blocks.filter(({ language }) => language === 'js');
  return { name, blocks: shown.map((block) => ({ ...block, mark: 'run' })) };
}

export function readPage(name: string): Page {
  return { name, blocks: blocksOf(readFileSync(join(ROOT, name), 'utf8')) };
}

export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = '', mark = '', body = ''] = match;
    const before = text.slice(0, match.index).trimEnd();
    return {
      line: before.split('\n').length + 2,
      language,
      mark: mark.trim(),
      text: body,
      above: before.split('\n\n').at(-1) ?? '',
    };
  });
}

/** Every line of the shell blocks, in order: one command each. */
export function commandsOf({ blocks }: Page): string[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trimEnd().split('\n'))
    .filter((line) => line !== '');
}

/** What keeps the page from being run as it claims. */
export function faultsOf({ name, blocks }: Page): string[] {
  return blocks.flatMap((block, index) => {
    const at = `${name}:${block.line}`;
    if (!MARKS.includes(block.mark))
      return [`${at}: "${block.language} ${block.mark}" has none of the marks ${MARKS.join(', ')}`];
    if (block.mark === 'not-run' && !/\bnot run\b/i.test(block.above))
      return [`${at}: the paragraph above doesn't say that it is not run`];
    if (block.mark === 'run' && block.language !== 'sh' && block.language !== 'js')
      return [`${at}: ${block.language} can't be run`];
    if (block.mark === 'output' && blocks[index - 1]?.mark !== 'run')
      return [`${at}: no block that was run is before this output`];
    return [];
  });
}
