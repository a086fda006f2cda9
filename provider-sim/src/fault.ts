/**
 * The vocabulary of misbehaviour. One table is the source of the type, of the run-time check and of the
 * test that holds the README to it, so a fault cannot exist without a meaning and a row.
 */
const faultFields = {
  // Before the response begins.
  delayMs: 'count',
  refuseConnection: 'flag',
  resetOnAccept: 'flag',
  cutBeforeHeaders: 'flag',
  stallBeforeHeaders: 'flag',
  early: 'flag',
  informational: 'flagOrCount',
  status101: 'flag',
  rawSocketBase64: 'text',
  // Answers that are not the asked-for one.
  status: 'count',
  retryAfter: 'textOrCount',
  headers: 'record',
  body: 'json',
  contentType: 'text',
  redirectTo: 'text',
  html200: 'flag',
  emptyBody: 'flag',
  malformedJson: 'flag',
  echo: 'flag',
  bodyBase64: 'text',
  rawFrames: 'texts',
  answerAs: 'answerAs',
  // Usage.
  noUsage: 'flag',
  zeroUsage: 'flag',
  usageTwice: 'flag',
  usageCumulative: 'flag',
  usageUnasked: 'flag',
  claimedInput: 'number',
  claimedOutput: 'number',
  promptTokens: 'count',
  cachedTokens: 'count',
  // How much is said.
  outputTokens: 'count',
  says: 'text',
  ignoreCap: 'flag',
  frames: 'count',
  frameBytes: 'count',
  tag: 'text',
  preambleFrames: 'count',
  // How the body travels.
  frameDelayMs: 'count',
  dripMs: 'count',
  oneChunkPerByte: 'flag',
  splitFrames: 'flag',
  coalesce: 'flagOrCount',
  crlf: 'flag',
  comments: 'flag',
  encoding: 'encoding',
  rateLimitHeaders: 'flag',
  hugeHeaders: 'flagOrCount',
  wrongContentLength: 'flagOrCount',
  connectionClose: 'flag',
  trailers: 'flag',
  // How it dies.
  cutAfterBytes: 'count',
  cutAfterFrames: 'count',
  cutMidFrame: 'flag',
  resetOnCut: 'flag',
  endAfterFrames: 'count',
  stallAfterFrames: 'count',
  errorAfterCreated: 'flag',
  errorBeforeContent: 'flag',
  errorAfterFrames: 'count',
  responseFailed: 'flag',
} as const;

export type Encoding = 'gzip' | 'br' | 'deflate';

interface KindTypes {
  flag: boolean;
  count: number;
  number: number;
  text: string;
  texts: string[];
  record: Record<string, string>;
  json: unknown;
  flagOrCount: boolean | number;
  textOrCount: string | number;
  encoding: Encoding;
  answerAs: 'json' | 'stream';
}

export type FaultName = keyof typeof faultFields;
export type Fault = { [K in FaultName]?: KindTypes[(typeof faultFields)[K]] };

export const faultNames = Object.keys(faultFields) as FaultName[];

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const kindChecks: Record<keyof KindTypes, (value: unknown) => boolean> = {
  flag: isFlag,
  count: isCount,
  number: Number.isFinite,
  text: isText,
  texts: (value) => Array.isArray(value) && value.every(isText),
  record: (value) => isRecord(value) && Object.values(value).every(isText),
  json: (value) => value !== undefined,
  flagOrCount: (value) => isFlag(value) || isCount(value),
  textOrCount: (value) => isText(value) || isCount(value),
  encoding: (value) => value === 'gzip' || value === 'br' || value === 'deflate',
  answerAs: (value) => value === 'json' || value === 'stream',
};

/** Throws on an unknown or ill-typed fault: a misspelt fault that does nothing would make a test pass for nothing. */
export function parseFault(value: unknown): Fault {
  if (!isRecord(value)) throw new Error('A fault must be an object.');
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(faultFields, name)) throw new Error(`Unknown fault '${name}'.`);
    const kind = faultFields[name as FaultName];
    if (!kindChecks[kind](given)) throw new Error(`Fault '${name}' must be of kind ${kind}.`);
  }
  return value as Fault;
}

/** The number behind a fault that may be given as `true` (use the default) or as a number. */
export function faultCount(value: boolean | number | undefined, whenTrue: number): number | null {
  if (value === undefined || value === false) return null;
  return value === true ? whenTrue : value;
}

/** Faults that take the socket away before the request is read; no part of the body can ask for them in time. */
export function actsBeforeBody(fault: Fault): boolean {
  return fault.early === true || fault.refuseConnection === true || fault.resetOnAccept === true;
}
