import type { DeletedLimit } from '@relay/contract';
import { text } from '../text/index.ts';
import { useLimitsOf } from './use-limits-of.ts';
import { useTouchedNames } from './use-touched-names.ts';
import { rejectingName } from './what-if-rows.ts';

const words = text.deletedLimits;
const LISTED_MAX = 20;

/** The limits that a deletion takes along. */
export function DeletedLimits({ limits }: { readonly limits: readonly DeletedLimit[] }) {
  const nameOf = useTouchedNames(limits.length > 0);
  if (limits.length === 0) return null;
  const rest = limits.length - LISTED_MAX;
  return (
    <div className="text-[13px] text-warn">
      <p className="font-medium">{words.title(limits.length)}</p>
      <ul>
        {limits.slice(0, LISTED_MAX).map((limit) => (
          <li key={limit.policy_id}>{rejectingName(limit, nameOf)}</li>
        ))}
        {rest > 0 ? <li>{words.more(rest)}</li> : null}
      </ul>
    </div>
  );
}

/** The same for the deletion of what has this ID. */
export function LimitsDeletedWith({ id }: { readonly id: string }) {
  return <DeletedLimits limits={useLimitsOf(id)} />;
}
