import type { ConfigPlan } from '@relay/contract';

export type PlannedChange = ConfigPlan['changes'][number];

export interface PlanParts {
  /** What is different afterwards, apart from whose it is. */
  readonly changes: readonly (PlannedChange & { readonly adopted: boolean })[];
  /** What becomes the file's and is otherwise as it was. */
  readonly adopted: readonly PlannedChange[];
  /** Likewise, with a secret that the file has a name for from then on; the secret stays. */
  readonly referenced: readonly PlannedChange[];
}

/**
 * The first apply of a file makes everything in it the file's, and names every secret that was entered by hand. That would hide
 * the one thing that is different, so it stands apart: from each change the change of owner is taken out, and what is left
 * without another is only taken over.
 */
export function partsOf({ changes }: Pick<ConfigPlan, 'changes'>): PlanParts {
  const told = changes.map((change) => {
    if (change.action !== 'update') return { ...change, adopted: false };
    const fields = change.fields.filter(({ field }) => field !== 'managed_by');
    return { ...change, fields, adopted: fields.length < change.fields.length };
  });
  const kindOf = ({ adopted, fields }: (typeof told)[number]) => {
    if (!adopted) return 'changes';
    if (fields.length === 0) return 'adopted';
    return fields.every(({ field, before }) => field === 'secret_ref' && before === null)
      ? 'referenced'
      : 'changes';
  };
  const of = (kind: keyof PlanParts) => told.filter((change) => kindOf(change) === kind);
  return { changes: of('changes'), adopted: of('adopted'), referenced: of('referenced') };
}
