import type { SpecRuleId } from '@relay/contract/specification';

/** Sentences that cannot be checked from outside, and why. */
export const notCheckable: Readonly<Partial<Record<SpecRuleId, string>>> = {
  '4.2 rule 6': 'it allows further routes and fields, and demands none',
  '5.10': 'it names what the specification leaves open',
  '6': 'it names what the specification leaves open',
  '7 rule 3': 'it denies a promise',
  '7 rule 4': 'the status of a failing model list is left open',
  '8.8': 'it names what the specification leaves open',
  '9.4': 'it names what the specification leaves open',
};
