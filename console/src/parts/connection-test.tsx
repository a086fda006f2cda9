import type { EndpointTestResult, ProviderTestResult } from '@relay/contract';
import { CircleCheck, CircleMinus, CircleX } from 'lucide-react';
import { formatDuration } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import { classes } from '../ui/class-names.ts';

type Result = ProviderTestResult | EndpointTestResult;

const ICONS = { ok: CircleCheck, failed: CircleX, skipped: CircleMinus } as const;
const TONES = { ok: 'text-good', failed: 'text-bad', skipped: 'text-ink-faint' } as const;

/**
 * The stages of a connection test (DNS, connection, TLS, authentication, response), with advice for the failed one and what
 * the provider said.
 */
export function ConnectionTest({ result }: { readonly result: Result }) {
  const words = text.providers.test;
  return (
    <div role="status" className="overflow-hidden rounded-lg border">
      <p
        className={classes(
          'px-3.5 py-2.5 text-[13px] font-medium',
          result.ok ? 'bg-good-wash text-good' : 'bg-bad-wash text-bad',
        )}
      >
        {result.ok ? words.ok(formatDuration(result.latency_ms)) : result.message}
      </p>
      <ol className="divide-y">
        {result.stages.map(({ stage, status, latency_ms, message }) => {
          const Icon = ICONS[status];
          return (
            <li key={stage} className="flex items-start gap-2.5 px-3.5 py-2 text-[13px]">
              <Icon aria-hidden className={classes('mt-0.5 size-4 shrink-0', TONES[status])} />
              <div className="min-w-0 flex-1">
                <span className="font-medium">{words.stages[stage]}</span>{' '}
                <span className="text-ink-faint">{words.statuses[status]}</span>
                {/* The first line has the message of the stage that failed. */}
                {status === 'failed' ? null : <p className="text-xs break-words text-ink-faint">{message}</p>}
              </div>
              <span className="text-xs text-ink-faint tabular-nums">
                {latency_ms === null ? '' : formatDuration(latency_ms)}
              </span>
            </li>
          );
        })}
      </ol>
      {result.ok || result.upstream_status === null ? null : (
        <p className="border-t px-3.5 py-2 text-xs break-words text-ink-soft">
          {answerWords(result.host, result.upstream_status, result.upstream_message)}
        </p>
      )}
    </div>
  );
}

function answerWords(host: string, status: number, message: string | null): string {
  const answered = text.providers.test.answered(host, status);
  return message === null ? `${answered}.` : text.providers.test.said(answered, message);
}
