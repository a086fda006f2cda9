import type { ConfigPlan } from '@relay/contract';

export type PlannedChange = ConfigPlan['changes'][number];

export interface PlanParts {
  /** Resources with real changes. */
  readonly changes: readonly (PlannedChange & { readonly adopted: boolean })[];
  /** Resources that only become managed by the file. */
  readonly adopted: readonly PlannedChange[];
  /** The same, with a new reference for an existing secret. */
  readonly referenced: readonly PlannedChange[];
}

/**
 * The first apply takes over every resource of the file and references every secret. These changes would hide
 * the real ones, so they are shown separately.
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
