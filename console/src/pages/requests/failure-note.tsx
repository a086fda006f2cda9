import { isErrorCode } from '@relay/contract/errors';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { adviceOf, causeOf } from '../../parts/failure-words.ts';
import { text } from '../../text/index.ts';
import { rangeAround, timeRangeSearch } from '../../time-range/time-range.ts';

const words = text.failures;

/** Why a request failed, what to do, and where to read on. */
export function FailureNote({ code, at }: FailureNoteProps) {
  const advice = adviceOf(code);
  return (
    <div className="max-w-[980px] space-y-1 border-l-[3px] border-bad py-0.5 pl-3">
      <p>
        <b className="font-semibold text-bad">{causeOf(code)}</b>{' '}
        <code className="ml-1 font-mono text-xs text-ink-faint">{code}</code>
      </p>
      {advice === null ? null : (
        <>
          <p className="text-ink-soft">
            <Coded>{advice.why}</Coded>
          </p>
          <p>
            <b className="font-medium">{words.whatToDo}:</b> <Coded>{advice.fix}</Coded>
          </p>
        </>
      )}
      <p className="flex flex-wrap gap-x-4 text-xs">
        <Link
          to="/requests"
          search={(before: Record<string, unknown>) => ({
            ...rangeAround(at, timeRangeSearch(before), Date.now()),
            state: 'failed',
            error: code,
          })}
          className="link"
        >
          {words.similar}
        </Link>
        {!isErrorCode(code) ? null : (
          <a href={`/docs/errors/${code}`} target="_blank" rel="noreferrer" className="link">
            {text.requests.detail.error.page}
          </a>
        )}
      </p>
    </div>
  );
}

interface FailureNoteProps {
  readonly code: string;
  /** When the request arrived. */
  readonly at: string;
}

/** The error registry marks code with backticks. */
function Coded({ children }: { readonly children: string }) {
  return children.split('`').map((part, index) =>
    index % 2 === 0 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
      <Fragment key={index}>{part}</Fragment>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
      <code key={index} className="font-mono text-xs">
        {part}
      </code>
    ),
  );
}
