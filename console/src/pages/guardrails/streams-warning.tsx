import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { guardrailStatsQuery } from '../../api/guardrail-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { rangeOf } from '../../time-range/time-range.ts';

const words = text.guardrails.streams;

interface StreamsWarningProps {
  readonly guardrailId: string;
  /** The bindings to predict for; without it, the present ones apply. */
  readonly boundTo?: string;
  /** The guardrail is enabled, so the effect is current. */
  readonly now?: boolean;
}

/** Warns that a bound guardrail makes streaming and embeddings requests fail, and counts those of the last 7 days. */
export function StreamsWarning({ guardrailId, boundTo, now = false }: StreamsWarningProps) {
  const [range] = useState(() => rangeOf({ range: '7d' }, Date.now()));
  const { data: stats } = useQuery(guardrailStatsQuery(useApi(), guardrailId, range, boundTo));
  if (stats === undefined)
    return (
      <p role="status" className="text-[13px] text-ink-faint">
        {words.counting}
      </p>
    );
  const { streaming_requests: streaming, embedding_requests: embeddings } = stats;
  const meaning = now ? words.rejects : words.willReject;
  if (streaming + embeddings === 0)
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        {meaning} {words.none}
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
          )}
        </strong>{' '}
        {meaning}
      </p>
    </div>
  );
}
