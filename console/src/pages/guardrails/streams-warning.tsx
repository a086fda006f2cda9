import type { GuardrailStats } from '@relay/contract';
import { TriangleAlert } from 'lucide-react';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';

const words = text.guardrails.streams;

interface StreamsWarningProps {
  /** Undefined while loading. */
  readonly stats: Pick<GuardrailStats, 'streaming_requests' | 'embedding_requests'> | undefined;
  readonly range: TimeRange;
  /** The guardrail is enabled, so the effect is current. */
  readonly now?: boolean;
}

/** Warns how many streamed requests the guardrail would reject, before it is bound or enabled. */
export function StreamsWarning({ stats, range, now = false }: StreamsWarningProps) {
  const when = range.name === null ? words.chosen : words.during(text.timeRange.names[range.name]);
  if (stats === undefined)
    return (
      <p role="status" className="text-[13px] text-ink-faint">
        {words.counting}
      </p>
    );
  const { streaming_requests: streaming, embedding_requests: embeddings } = stats;
  if (streaming + embeddings === 0)
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        {words.none(when)}
      </p>
    );
  return (
    <div role="status" className="flex gap-2.5 border-l-[3px] border-warn py-0.5 pl-3 text-warn">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p>
        <strong className="font-semibold">
          {words.some(
            streaming === 0 ? null : words.streaming(streaming),
            embeddings === 0 ? null : words.embeddings(embeddings),
            when,
          )}
        </strong>{' '}
        {now ? words.refused : words.meaning}
      </p>
    </div>
  );
}
