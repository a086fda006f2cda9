import { isScope, type Scope } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { scopeRefusal } from '../../http/scope-refusal.ts';
import type { Section } from '../resources/stored-section.ts';
import type { Change, PlanInput } from './make-plan.ts';

/**
 * Requires the scope of a section that the organization's plan may not include, such as guardrails, only if the
 * file names or changes its items. Callers without the scope can still apply all other sections.
 */
export function demandNamedScopes(caller: Caller, input: PlanInput, changes: readonly Change[]): void {
  for (const section of input.sections) {
    const scope = scopeWhenNamed(section);
    if (scope === null || caller.scopes.has(scope)) continue;
    if (names(input, section) || changes.some((change) => change.section.name === section.name)) {
      throw scopeRefusal(caller, [scope]);
    }
  }
}

/** Whether the caller may replace every secret that the file refers to. */
export function mayReplaceSecrets(caller: Caller, input: PlanInput): boolean {
  if (!caller.scopes.has('relay:providers:manage')) return false;
  return input.sections.every((section) => {
    const scope = section.firstPlace === null ? null : scopeWhenNamed(section);
    return scope === null || !names(input, section) || caller.scopes.has(scope);
  });
}

/**
 * Whether the apply must raise the fence. An apply without changes may repeat one whose fence failed, so it
 * raises the fence if the file names items of a fenced section.
 */
export function isFenced(input: PlanInput, changes: readonly Change[]): boolean {
  if (changes.length > 0) return changes.some(({ section }) => section.isFenced);
  return input.sections.some((section) => section.isFenced && names(input, section));
}

function scopeWhenNamed({ scopeWhenNamed: scope }: Section): Scope | null {
  return scope !== null && isScope(scope) ? scope : null;
}

function names({ file }: PlanInput, { name }: Section): boolean {
  return (file.get(name)?.size ?? 0) > 0;
}
