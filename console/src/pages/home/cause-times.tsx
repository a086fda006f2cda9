import type { Endpoint, FailureCause } from '@relay/contract';
import { formatSpan } from '../../format/spans.ts';
import { formatMoment } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { Plate } from '../../ui/plate.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { useNow } from '../../ui/use-now.ts';
import { type CauseTime, endOf, timeOf } from './causes.ts';

const words = text.home.lead;
const TICK_MS = 1_000;

interface CauseTimesProps {
  readonly cause: FailureCause;
  readonly endpoints: readonly Endpoint[];
  readonly range: TimeRange;
}

/** Since when requests fail for a cause, and when it ends by itself. */
export function CauseTimes({ cause, endpoints, range }: CauseTimesProps) {
  const nowMs = useNow(TICK_MS);
  const end = endOf(cause, endpoints, nowMs);
  return (
    <>
      <Happened cause={cause} time={timeOf(cause, range, nowMs)} nowMs={nowMs} />
      {end === null ? null : (
        <>
          {' · '}
          {words.ends[end.kind]} <Plate size="small">{formatSpan(end.atMs - nowMs)}</Plate>
        </>
      )}
    </>
  );
}

function Happened({ cause: { first_at: first, last_at: last }, time, nowMs }: HappenedProps) {
  if (time.kind === 'since')
    return (
      <>
        {time.isOlder ? words.atLeastSince : words.since}{' '}
        <Time at={first} format={() => formatMoment(time.atMs, nowMs)} />
      </>
    );
  if (time.kind === 'between')
    return (
      <>
        {words.first} <Ago at={first} />, {words.last} <Ago at={last} />
      </>
    );
  return (
    <>
      {words.last} <Ago at={last} />
    </>
  );
}

interface HappenedProps {
  readonly cause: Pick<FailureCause, 'first_at' | 'last_at'>;
  readonly time: CauseTime;
  readonly nowMs: number;
}
