import { formatCount, formatShare } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import { failuresByKind, type KindOfFailure } from './failure-kinds.ts';
import { causeOf } from './failure-words.ts';

const words = text.endpoints.errors;

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

/** The share of requests that failed, with their causes on hover. Normal is gray; only what health counts has color. */
export function ErrorShare({ of }: { readonly of: FailedCounts | undefined }) {
  const share = errorShareOf(of);
  if (of === undefined || share === null) return <span className="text-ink-faint">{text.states.empty}</span>;
  const kinds = failuresByKind(of.failed, of.errors);
  const counted = kinds.find(({ kind }) => kind === 'counted')?.requests ?? 0;
  const countedShare = counted / of.requests;
  const tone = countedShare > ERRORS_BAD ? 'text-bad' : countedShare > ERRORS_WARN ? 'text-warn' : '';
  const rejected = of.rejected === 0 ? [] : [words.rejected(of.rejected)];
  return (
    <span title={[...kinds.flatMap(linesOf), ...rejected].join('\n')}>
      <span className={share === 0 ? 'text-ink-faint' : tone}>{formatShare(share)}</span>
      {share === 0 || counted > 0 ? null : (
        <span className="block text-xs whitespace-nowrap text-ink-faint">
          {kinds.map(({ kind }) => words.ignored[kind]).join(', ')}
        </span>
      )}
    </span>
  );
}

/** What it is and how many, then the most frequent causes. */
function linesOf({ kind, requests, codes }: KindOfFailure): string[] {
  const causes = codes
    .slice(0, CAUSES_SHOWN)
    .map(({ error_code: code, requests: count }) =>
      words.cause(formatCount(count), code === null ? text.states.empty : causeOf(code)),
    );
  return [words.kinds[kind](formatCount(requests)), ...causes];
}
