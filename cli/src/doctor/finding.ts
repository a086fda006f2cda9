import type { Api } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { shownFix } from '../output/write-error.ts';

/** `fail`: something does not work. `warn`: it probably needs attention. `note`: nothing is known, so nothing is wrong. */
export type Status = 'ok' | 'note' | 'warn' | 'fail';

export interface Finding {
  readonly check: string;
  readonly status: Status;
  readonly message: string;
  readonly fix?: string;
}

export interface Examination {
  readonly surroundings: Surroundings;
  readonly api: Api;
}

/** The stores that a check depends on: one that answers, or all, which also accept writes. */
export type Need = 'postgresql' | 'redis' | 'every store';

export type Check = (examination: Examination) => Promise<readonly Finding[]>;

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function note(check: string, message: string, fix: string): Finding {
  return { check, status: 'note', message, fix: shownFix(fix) };
}

/** Not a problem of its own: what it depends on failed, and is a finding already. */
export function skipped(check: string, because: string): Finding {
  return { check, status: 'note', message: `Not checked: ${because}` };
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, status: 'warn', message, fix: shownFix(fix) };
}

export function fail(check: string, message: string, fix: string): Finding {
  return { check, status: 'fail', message, fix: shownFix(fix) };
}

/** A list of names, shortened. */
export function named(names: readonly string[]): string {
  const SHOWN_MAX = 5;
  const shown = names.slice(0, SHOWN_MAX).join(', ');
  return names.length > SHOWN_MAX ? `${shown} and ${names.length - SHOWN_MAX} more` : shown;
}
