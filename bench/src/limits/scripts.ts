import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '../../../server/src/admission/redis/script');

export interface Script {
  readonly text: string;
  readonly digest: string;
}

/** A script as the product runs it: what all of them share, then its own text; that which admits has a part before. */
export function readScript(name: 'admit' | 'settle' | 'initialize'): Script {
  const text = [...(name === 'admit' ? ['uncharged'] : []), 'metrics', 'prelude', name]
    .map((part) => readFileSync(join(DIRECTORY, `${part}.lua`), 'utf8'))
    .join('\n');
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}
