import { formatCount, formatShare } from '../format/numbers.ts';
import { text } from '../text/index.ts';

/** What the cell needs of an endpoint, or of the endpoints of a provider. */
export interface FailedCounts {
  readonly requests: number;
  readonly failed: number;
  readonly rejected: number;
  /** The most frequent first. */
  readonly errors: readonly { readonly error_code: string | null; readonly requests: number }[];
}

const ERRORS_BAD = 0.02;
const ERRORS_WARN = 0.005;
const CAUSES_SHOWN = 5;

/** Null without requests, and where unknown. */
export function errorShareOf(of: FailedCounts | undefined): number | null {
  return of === undefined || of.requests === 0 ? null : of.failed / of.requests;
}

/** The share of requests that failed, with their causes on hover. Normal is gray; only trouble has color. */
export function ErrorShare({ of }: { readonly of: FailedCounts | undefined }) {
  const share = errorShareOf(of);
  if (of === undefined || share === null) return <span className="text-ink-faint">{text.states.empty}</span>;
  const tone = share > ERRORS_BAD ? 'text-bad' : share > ERRORS_WARN ? 'text-warn' : '';
  const causes = of.errors
    .slice(0, CAUSES_SHOWN)
    .map(({ error_code: code, requests }) => `${formatCount(requests)} ${code ?? text.states.empty}`);
  const rejected = of.rejected === 0 ? [] : [text.endpoints.rejected(of.rejected)];
  return (
    <span className={share === 0 ? 'text-ink-faint' : tone} title={[...causes, ...rejected].join('\n')}>
      {formatShare(share)}
    </span>
  );
}
