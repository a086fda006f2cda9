import { parseArgs } from 'node:util';
import { positive, say } from './command-line.ts';
import { type Judged, judge } from './input-bound/judge.ts';
import { writeWords } from './input-bound/write-words.ts';

export const INPUT_BOUND_USAGE = `input-bound: checks the upper bound on input tokens against real tokenizers
  --texts N   generated texts (100000)
  --seed N    repeat the texts of an earlier run
  --write-words   first measure the words that the bound knows, and write them to the server's source`;

/** Fails where a text has more tokens than the bound. */
export async function inputBound(args: readonly string[]): Promise<Omit<Judged, 'examples'>> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      texts: { type: 'string', default: '100000' },
      seed: { type: 'string' },
      'write-words': { type: 'boolean' },
    },
  });
  if (values['write-words'] === true) writeWords();
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : positive('--seed', values.seed);
  say(`seed ${seed}`);
  const { examples, ...figures } = await judge(positive('--texts', values.texts), seed);
  for (const example of examples) say(example);
  if (figures.below > 0) process.exitCode = 1;
  return figures;
}
