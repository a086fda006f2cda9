import { objectOf } from '../kit/json-value.ts';
import { foldedName } from './estimate-input.ts';
import type { MeasuredBody } from './request-body.ts';

/** More than any model writes. A client may send any number, and sums of it must stay safe integers. */
const OUTPUT_TOKENS_MAX = 1_000_000_000;

/** Every name that a provider is known to bound the output by. All of them can raise an estimate. */
const CAPS = new Set([
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'max_length',
  'n_predict',
  'num_predict',
  'thinking_budget',
]);
/** Objects with a bound of their own on what the model thinks, by the names it has. */
const BUDGETS = new Map([
  ['thinking', ['budget_tokens', 'max_tokens']],
  ['reasoning', ['budget_tokens', 'max_tokens']],
]);
const CHOICES = new Set(['n', 'best_of', 'num_return_sequences']);

export interface OutputBounds {
  /** The client's limit on the output; null when it set none that holds. */
  readonly cap: number | null;
  /** The largest number that the provider could take for a limit; 0 for none. */
  readonly atLeast: number;
  /** A field that a provider could take for a limit and that is not a positive integer, as which it may lift every limit; null for none. */
  readonly unreadable: string | null;
  /** How many answers are written. */
  readonly choices: number;
}

/** Of an operation in which the model writes nothing. */
export const NO_OUTPUT: OutputBounds = { cap: null, atLeast: 0, unreadable: null, choices: 1 };

/**
 * Only the fields that the operation uses lower an estimate, and only as positive integers under their exact names. Any other that a
 * provider could read as a limit raises it: by another spelling, as text, or overwritten by a later member of the same name.
 */
export function outputBounds(body: MeasuredBody, own: ReadonlySet<string>): OutputBounds {
  const { settings, overwritten = [] } = body;
  let atLeast = 0;
  let choices = 1;
  let isCapped = false;
  let isContradicted = false;
  let unreadable: string | null = null;

  function read(name: string, value: unknown): void {
    if (value === null) return;
    const folded = foldedName(name);
    if (CHOICES.has(folded)) choices = Math.max(choices, largestReading(value));
    for (const member of BUDGETS.get(folded) ?? [])
      atLeast = Math.max(atLeast, largestReading(objectOf(value)[member]));
    if (!CAPS.has(folded)) return;
    atLeast = Math.max(atLeast, largestReading(value));
    if (!isCount(value)) unreadable ??= name;
    if (!own.has(name)) return;
    if (isCount(value)) isCapped = true;
    else isContradicted = true;
  }

  for (const { name } of body.members) {
    // A member without a value here is larger than a setting: no reading bounds it.
    const isRead = Object.hasOwn(settings, name);
    if (isRead) read(name, settings[name]);
    else if (CAPS.has(foldedName(name)) || CHOICES.has(foldedName(name))) read(name, OUTPUT_TOKENS_MAX);
  }
  for (const { name, value } of overwritten) read(name, value);
  return { cap: isCapped && !isContradicted ? atLeast : null, atLeast, unreadable, choices };
}

/** The output that an estimate counts: the cap, or what is typical if that is unbounded, for each of the choices. */
export function estimatedOutput({ cap, atLeast, choices }: OutputBounds, typicalTokens: number): number {
  return Math.min(OUTPUT_TOKENS_MAX, (cap ?? Math.max(typicalTokens, atLeast)) * choices);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** As the most lenient parser reads it: numbers in text, rounded up; 0 for what is not a positive number. */
function largestReading(value: unknown): number {
  const read = typeof value === 'string' ? Number(value.trim()) : value;
  if (typeof read !== 'number' || !(read > 0)) return 0;
  return Math.min(OUTPUT_TOKENS_MAX, Math.ceil(read));
}
