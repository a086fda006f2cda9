import { type SpecRuleId, specRules } from '@relay/contract/specification';
import { Deviation } from './expectation.ts';
import { everywhere, type Mode } from './mode.ts';
import type { Site } from './site.ts';

/** One sentence or table cell of the specification that can be checked from outside. */
export interface Statement {
  /** Where it stands: `5.3`, `4.2 rule 5`, `7 413`. */
  readonly id: string;
  readonly says: string;
  readonly quote: string;
  readonly appliesIn: (mode: Mode) => boolean;
  check(site: Site): Promise<void>;
}

type Check = (site: Site) => Promise<void>;

/** A statement about a sentence that `specRules` quotes. */
export function rule(
  id: SpecRuleId,
  says: string,
  check: Check,
  appliesIn: (mode: Mode) => boolean = everywhere,
): Statement {
  return { id, says, quote: specRules[id], appliesIn, check };
}

/** A statement about what the specification leaves open and Relay has decided; `quote` is the decision. */
export function decided(
  id: `d${number}`,
  quote: string,
  says: string,
  check: Check,
  appliesIn: (mode: Mode) => boolean = everywhere,
): Statement {
  return { id, says, quote, appliesIn, check };
}

/** The failure of a statement: which one, its sentence, what was expected and what came. */
export function failureOf({ id, says, quote }: Statement, error: unknown): Error {
  const lines =
    error instanceof Deviation
      ? [`expected: ${error.expected}`, `came:     ${error.came}`]
      : [`failed:   ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  return new Error([`${id} ${says}`, `sentence: ${quote}`, ...lines].join('\n  '));
}
