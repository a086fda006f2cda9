import { createHash } from 'node:crypto';
import type { ConfigPlan } from '@relay/contract';
import type { Change, Plan } from './make-plan.ts';
import type { FileItem } from './read-file.ts';

/** Of what changes and from what to what, and of nothing else: the same changes have the same hash. */
export function planHash({ changes }: Plan): string {
  const said = changes.map(({ action, section, key, fields }) => [action, section.name, key, fields]);
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

/** `changes` are those of the plan, or those that were applied. */
export function toConfigPlan(
  plan: Plan,
  toProvide: readonly FileItem[],
  applied: readonly Change[] | null,
): ConfigPlan {
  const changes = applied ?? plan.changes;
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
      id: action === 'create' && applied === null ? null : id,
      fields: [...fields],
    })),
    orphaned: plan.orphaned.map(({ section, key, id }) => ({ section: section.name, key, id })),
    required_secrets: [...new Set(toProvide.map(({ entry }) => String(entry['secret_ref'])))].sort(),
  };
}
