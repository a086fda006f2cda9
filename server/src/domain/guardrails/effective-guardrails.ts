import { entryIn } from '../../kit/entry-in.ts';
import { finish, type Steps, stepsOver } from '../../kit/slices.ts';
import type { GuardedPlace, Guardrail } from './guardrail.ts';

/** Positions of guardrails in the list, ascending, by what they are bound to. */
interface BoundGuardrails {
  /** Bound to everything. */
  readonly everywhere: Set<number>;
  readonly byTarget: Map<string, Set<number>>;
}

// A cache and not state: an entry depends on its key alone and is collected with it.
const tables = new WeakMap<readonly Guardrail[], BoundGuardrails>();
const NONE: ReadonlySet<number> = new Set();

/**
 * The effective guardrails, each once, in the order of the list. What that costs depends on how many are effective there, and not on
 * how many there are or what else they are bound to.
 */
export function effectiveGuardrails(
  guardrails: readonly Guardrail[],
  { laneId, candidate }: GuardedPlace,
): readonly Guardrail[] {
  if (guardrails.length === 0) return guardrails;
  const { everywhere, byTarget } = tables.get(guardrails) ?? finish(prepareGuardrails(guardrails));
  const bound = (targetType: string, targetId: string | null | undefined) =>
    targetId == null ? NONE : (byTarget.get(`${targetType} ${targetId}`) ?? NONE);
  const found = new Set([
    ...everywhere,
    ...bound('lane', laneId),
    ...bound('provider', candidate?.providerId),
    ...bound('endpoint', candidate?.endpointId),
  ]);
  return [...found].sort((one, other) => one - other).flatMap((position) => guardrails[position] ?? []);
}

/** Finds out which guardrails are bound to what. One without a stage is never effective. */
export function* prepareGuardrails(guardrails: readonly Guardrail[]): Steps<BoundGuardrails> {
  const table: BoundGuardrails = { everywhere: new Set(), byTarget: new Map() };
  for (const [position, { preDispatch, postResponse, bindings }] of guardrails.entries()) {
    if (!preDispatch && !postResponse) continue;
    yield* stepsOver(bindings, ({ targetType, targetId }) => {
      if (targetType === 'global') table.everywhere.add(position);
      else entryIn(table.byTarget, `${targetType} ${targetId}`, () => new Set<number>()).add(position);
    });
  }
  tables.set(guardrails, table);
  return table;
}
