import { createHash } from 'node:crypto';
import type { ConfigPlan } from '@relay/contract';
import type { Taken } from '../resources/dependents.ts';
import type { SaidChange } from '../resources/name-changes.ts';
import type { Change, Plan } from './make-plan.ts';
import type { HeldItem } from './secret-holders.ts';
import { deletedLimits } from './taken-limits.ts';

/** Covers only the changes with their old and new values, so equal changes have equal hashes. */
export function planHash({ changes }: Plan): string {
  const said = changes.map(({ action, section, key, fields }) => [action, section.name, key, fields]);
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

export interface PlanAnswer {
  readonly plan: Plan;
  /** Includes the changes that the sent secrets cause. */
  readonly changes: readonly Change[];
  readonly toProvide: readonly HeldItem[];
  readonly secrets: ConfigPlan['secrets'];
  readonly nameChanges: readonly SaidChange[];
  /** Deleted along with what the plan deletes. */
  readonly taken: readonly Taken[];
  readonly isApplied: boolean;
}

export function toConfigPlan(answer: PlanAnswer): ConfigPlan {
  const { plan, changes, toProvide, secrets, nameChanges, taken, isApplied } = answer;
  const count = (wanted: Change['action']) => changes.filter(({ action }) => action === wanted).length;
  return {
    plan_hash: planHash(plan),
    creates: count('create'),
    updates: count('update'),
    deletes: count('delete'),
    releases: count('release'),
    changes: changes.map(({ action, section, key, id, fields }) => ({
      action,
      section: section.name,
      key,
      id: action === 'create' && !isApplied ? null : id,
      fields: [...fields],
    })),
    orphaned: plan.orphaned.map(({ section, key, id }) => ({ section: section.name, key, id })),
    name_changes: nameChanges.map(({ change }) => change),
    deleted_limits: deletedLimits(taken),
    required_secrets: [...new Set(toProvide.map(({ ref }) => String(ref)))].sort(),
    secrets,
  };
}
