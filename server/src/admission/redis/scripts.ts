import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from '../../store/redis/redis.ts';

const DIRECTORY = join(import.meta.dirname, 'script');
const NAMES = [
  ...(['admit', 'settle', 'void', 'extend', 'penalize', 'sweep'] as const),
  ...(['usage', 'initialize', 'recount'] as const),
];

/** A part that comes before the shared prelude. */
const OPENINGS: Partial<Record<ScriptName, string>> = { admit: 'uncharged' };

export type ScriptName = (typeof NAMES)[number];

export interface Scripts {
  /** Runs one atomic step. The key names the slot that holds everything the script touches. */
  run(name: ScriptName, prefix: string, args: readonly string[]): Promise<unknown>;
  /**
   * Loads the scripts on the server of this slot. Without it they still run, but the first requests find them missing and are
   * sent again, out of order.
   */
  load(prefix: string): Promise<void>;
}

/** Tests use `rewrite` to plant faults in the text. */
export function createScripts(redis: Redis, rewrite: (text: string) => string = (text) => text): Scripts {
  const texts = new Map<ScriptName, { text: string; digest: string }>();
  for (const name of NAMES) {
    const parts = [...(OPENINGS[name] === undefined ? [] : [OPENINGS[name]]), 'metrics', 'prelude', name];
    const text = rewrite(
      parts.map((part) => readFileSync(join(DIRECTORY, `${part}.lua`), 'utf8')).join('\n'),
    );
    texts.set(name, { text, digest: createHash('sha1').update(text).digest('hex') });
  }

  return {
    async load(prefix) {
      for (const { text } of texts.values()) await redis.run(['SCRIPT', 'LOAD', text], prefix);
    },
    async run(name, prefix, args) {
      const script = texts.get(name);
      if (script === undefined) throw new RangeError(`no script called ${name}`);
      try {
        return await redis.run(['EVALSHA', script.digest, '1', prefix, ...args], prefix);
      } catch (error) {
        // A server that restarted or has just joined does not have the script yet.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return redis.run(['EVAL', script.text, '1', prefix, ...args], prefix);
      }
    },
  };
}
