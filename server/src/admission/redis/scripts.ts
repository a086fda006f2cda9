import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from '../../store/redis/redis.ts';
import { listOf } from './wire.ts';

const DIRECTORY = join(import.meta.dirname, 'script');
const NAMES = [
  ...(['batch', 'step', 'change-limits', 'extend', 'restore', 'penalize', 'sweep'] as const),
  ...(['restore-uses', 'usage', 'next-slots', 'initialize', 'recount', 'drop-line', 'begin'] as const),
  'in-flight' as const,
];

/** Read by every script. */
const SHARED = ['metrics', 'heads', 'leases'];
/** The rules of windows, operations and the line, for scripts that change them. */
const RULES = ['windows', 'operations'];
/** The line is one function, since a function of Lua has at most 200 local names. These are what it gives to others. */
const LINE_PARTS = [
  ...['line-zones', 'line-plan', 'line-runs', 'line-state', 'line-places', 'line-fit', 'line-promise'],
  ...['line-refuse', 'line-queues', 'line-turns', 'line'],
];
const LINE_GIVES =
  'line_exists, ask_line, ask_again, leave, step, touch, change_limits, next_ms, next_slots, flush_line';
const LINE = ['the line', 'finish'];
/** A library's name is this and a part of its digest. */
const LIBRARY = 'relay_batch_';
const NAME_LENGTH = 16;

/** What each script is made of, in the order in which the parts need each other. */
const PARTS: Readonly<Record<ScriptName, readonly string[]>> = {
  batch: [...SHARED, 'shapes', ...RULES, ...LINE],
  step: [...SHARED, 'line-idle', ...RULES, ...LINE],
  'change-limits': [...SHARED, ...RULES, ...LINE],
  sweep: [...SHARED, ...RULES, ...LINE],
  recount: [...SHARED, ...RULES, ...LINE],
  restore: [...SHARED, ...RULES],
  'restore-uses': [...SHARED, 'windows'],
  'drop-line': [...SHARED, ...RULES],
  extend: SHARED,
  penalize: [...SHARED, 'windows'],
  usage: [...SHARED, 'windows'],
  'in-flight': [...SHARED, ...RULES],
  'next-slots': [...SHARED, ...RULES, 'the line'],
  initialize: [...SHARED, 'windows'],
  begin: [...SHARED, ...RULES],
};

/** Tries the common case of a batch; see its first lines. */
const FAST = [...SHARED, 'shapes', 'batch-fast'];

/** What such a script leaves behind, a sweep or a worker has to find. */
const LEAVES_LEASES: ReadonlySet<string> = new Set(['batch', 'restore', 'extend']);

export type ScriptName = (typeof NAMES)[number];

export interface Scripts {
  /** Runs one atomic step. The key names the slot that holds everything the script touches. `told`: the sequence of the state after it. */
  run(
    name: ScriptName,
    prefix: string,
    args: readonly string[],
    told?: (sequence: number) => void,
  ): Promise<unknown>;
  /**
   * Loads the scripts on the server of this slot. Without it they still run, but the first requests find them missing and are
   * sent again, out of order.
   */
  load(prefix: string): Promise<void>;
  /** Hears what scripts of a slot publish; see `Redis.subscribeShard`. */
  hear: Redis['subscribeShard'];
  /** Prefixes of the shards that may hold leases. */
  shards(): Promise<readonly string[]>;
}

/** Tests use `rewrite` to plant faults in the text. */
export function createScripts(redis: Redis, rewrite: (text: string) => string = (text) => text): Scripts {
  const calls = new Map<ScriptName, Call>();
  for (const name of NAMES) {
    const call =
      name === 'batch'
        ? libraryCall(rewrite(joined(FAST)), rewrite(joined([...PARTS.batch, name])))
        : scriptCall(rewrite(`${joined(PARTS[name])}\n${withSequence(textOf(name))}`));
    calls.set(name, call);
  }

  async function send(call: Call, prefix: string, args: readonly string[]): Promise<unknown> {
    const command = [...call.head, '1', prefix, ...args];
    try {
      return await redis.run(command, prefix);
    } catch (error) {
      // A server that restarted or has just joined does not have the script yet.
      if (!(error instanceof Error && error.message.startsWith(call.missing))) throw error;
      await redis.run(call.load, prefix);
      return redis.run(command, prefix);
    }
  }

  return {
    hear: redis.subscribeShard,
    shards: redis.shards.list,
    async load(prefix) {
      for (const { load } of calls.values()) await redis.run(load, prefix);
      await deleteOtherEditions(redis, prefix, calls.get('batch')?.head[1] ?? '');
    },
    async run(name, prefix, args, told) {
      const call = calls.get(name);
      if (call === undefined) throw new RangeError(`no script is named ${name}`);
      if (LEAVES_LEASES.has(name)) redis.shards.use(prefix);
      const answer = await send(call, prefix, args);
      // The third field of a batch's reply.
      const [sequence, reply] = name === 'batch' ? [listOf(answer)[2], answer] : listOf(answer);
      told?.(Number(sequence));
      return reply;
    },
  };
}

interface Call {
  readonly head: readonly string[];
  readonly load: readonly string[];
  /** How the reply of a server begins that does not have it. */
  readonly missing: string;
}

function scriptCall(text: string): Call {
  const digest = digestOf(text);
  return { head: ['EVALSHA', digest], load: ['SCRIPT', 'LOAD', text], missing: 'NOSCRIPT' };
}

/**
 * A function of a library keeps its own functions and tables between calls, which a script makes again in every call. All rules are
 * defined only by a call that needs them. The name follows from the text, so editions of the product do not get in each other's way.
 */
function libraryCall(fast: string, full: string): Call {
  const name = `${LIBRARY}${digestOf(fast + full).slice(0, NAME_LENGTH)}`;
  const library = `#!lua name=${name}
local function in_full(KEYS, ARGV)
${full}
end
local function make_fast(KEYS, ARGV)
${fast}
end
local fast
redis.register_function('${name}', function(KEYS, ARGV)
  -- Not before the first call: a library that loads has no redis.call.
  fast = fast or make_fast(KEYS, ARGV)
  return fast(KEYS, ARGV) or in_full(KEYS, ARGV)
end)
`;
  const load = ['FUNCTION', 'LOAD', 'REPLACE', library];
  return { head: ['FCALL', name], load, missing: 'ERR Function not found' };
}

/** A server keeps libraries for ever. A gateway of another edition that still runs loads its own again. */
async function deleteOtherEditions(redis: Redis, prefix: string, own: string): Promise<void> {
  const listed = await redis.run(['FUNCTION', 'LIST', 'LIBRARYNAME', `${LIBRARY}*`], prefix);
  const names = JSON.stringify(listed).match(new RegExp(`${LIBRARY}[0-9a-f]+`, 'g')) ?? [];
  for (const name of new Set(names)) if (name !== own) await redis.run(['FUNCTION', 'DELETE', name], prefix);
}

/** Every reply tells how far the state has come: a later call finds out when it has gone back since. */
function withSequence(text: string): string {
  return `local function reply()\n${text}\nend\nlocal answer = reply()\nreturn { SEQUENCE, answer }`;
}

function digestOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

function joined(parts: readonly string[]): string {
  return parts.map((part) => (part === 'the line' ? lineText() : textOf(part))).join('\n');
}

function textOf(part: string): string {
  return readFileSync(join(DIRECTORY, `${part}.lua`), 'utf8');
}

function lineText(): string {
  const body = LINE_PARTS.map(textOf).join('\n');
  return `local ${LINE_GIVES} = (function()\n${body}\nreturn ${LINE_GIVES}\nend)()\n`;
}
