import type { BoundPolicy, NamedLimit, RequestLimits } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { FillBar } from '../../parts/limit-bar.tsx';
import { amountOf, namedLimitOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';

const words = text.requests.detail.limits;

interface LimitsListProps {
  readonly found: RequestLimits;
  readonly bound: BoundPolicy | null;
}

/** Every limit that counts requests like this one, with what is left of it now; first the one that limited this request. */
export function LimitsList({ found: { limits, counted }, bound }: LimitsListProps) {
  if (limits.length === 0) return <p className="py-2.5 text-[13px] text-ink-soft">{words.none[counted]}</p>;
  return (
    <>
      <ul>
        {inOrder(limits, bound).map((usage) => (
          <li
            key={usage.policy_id}
            className="grid min-h-[34px] grid-cols-[minmax(0,1fr)_64px_112px] items-center gap-x-2.5 border-t py-1 text-[13px] first:border-t-0"
          >
            <p className="min-w-0">
              <Link to="/limits" search={{ open: usage.policy_id }} className="hover:underline">
                {namedLimitOf(usage)}
              </Link>
              {usage.policy_id === bound?.policy_id ? (
                <b className="ml-2 font-semibold whitespace-nowrap text-wait-ink">{words.limitedThis}</b>
              ) : null}
            </p>
            <FillBar usage={usage} />
            <span className="text-right text-ink-soft tabular-nums">
              {words.left(amountOf(usage.metric, usage.remaining))}
            </span>
          </li>
        ))}
      </ul>
      {counted === 'own' ? <p className="py-1.5 text-xs text-ink-faint">{words.onlyOwn}</p> : null}
    </>
  );
}

/** "$50.00 per day for key Support bot". */
/** The one that limited the request, then the fullest. */
function inOrder(limits: readonly NamedLimit[], bound: BoundPolicy | null): readonly NamedLimit[] {
  const rank = (usage: NamedLimit) => (usage.policy_id === bound?.policy_id ? -1 : leftShareOf(usage));
  return limits.toSorted((a, b) => rank(a) - rank(b));
}

function leftShareOf({ limit, remaining }: NamedLimit): number {
  return limit === 0 ? 0 : remaining / limit;
}
