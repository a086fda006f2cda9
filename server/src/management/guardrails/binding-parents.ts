import { governorsIn, type Parent } from '../resources/resource.ts';

/** A binding defines what is checked at its guardrail, and at its target. */
export const bindingParents: readonly Parent[] = [
  { table: 'guardrails', column: 'guardrail_id', governs: 'guardrail' },
  { table: 'providers', column: 'target_id', governs: 'provider' },
  { table: 'endpoints', column: 'target_id', governs: 'endpoint' },
  { table: 'lanes', column: 'target_id', governs: 'lane' },
];

export const bindingGovernors = governorsIn(bindingParents);
