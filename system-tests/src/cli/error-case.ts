import type { SeededKey } from '../harness/accounts.ts';
import type { OddServers } from './odd-servers.ts';
import { type RunOptions, runPiped } from './run-cli.ts';
import { needsProcess, runHerePiped } from './run-here.ts';
import type { Site } from './site.ts';

/** A usage error or a failure that a user meets. */
export interface ErrorCase {
  readonly args: string;
  readonly code: number;
  /** What standard error has to say. */
  readonly says: RegExp;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isBare?: boolean;
  /** Results found before the failure may be on standard output. */
  readonly hasOutput?: boolean;
  readonly prints?: RegExp;
}

export interface ErrorWorld {
  readonly site: Site;
  readonly odd: OddServers;
  readonly keys: Readonly<Record<'revoked' | 'expired' | 'inferenceOnly', SeededKey>>;
}

const STACK =
  /^\s+at .+:\d+:\d+\)?$|node:internal|UnhandledPromise|Node\.js v\d|ExperimentalWarning|\[object Object\]|undefined/m;

/** Runs one case; returns what is wrong with its message, and whether a stack trace was shown. */
export async function tryError(
  { args, code, says, stdin = '', env = {}, isBare = false, hasOutput = false, prints = /(?:)/ }: ErrorCase,
  { site }: ErrorWorld,
): Promise<{ complaints: string[]; isStack: boolean }> {
  const options: RunOptions = {
    env: { ...(isBare ? site.bareEnv : site.env), ...env },
    cwd: site.home,
    stdin,
  };
  const words = args === '' ? [] : args.split(' ');
  const ran = await (needsProcess(words) ? runPiped : runHerePiped)(words, options);
  const complaints: string[] = [];
  if (ran.code !== code) complaints.push(`exits with ${ran.code}, not ${code}`);
  if (!says.test(ran.stderr)) complaints.push(`does not say ${says}`);
  if (!prints.test(ran.stdout)) complaints.push(`does not print ${prints}`);
  if (!hasOutput && ran.stdout !== '') complaints.push('writes to standard output');
  const isStack = STACK.test(ran.stderr);
  if (isStack) complaints.push('shows what only a programmer reads');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may come through.
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(ran.stderr))
    complaints.push('lets control characters through');
  return {
    complaints: complaints.map((each) => `relay ${args}: ${each}\n${ran.stderr}${ran.stdout}`),
    isStack,
  };
}
