import { useEffect, useState } from 'react';
import { ApiError } from '../../errors/api-error.ts';
import { formatDuration } from '../../format/numbers.ts';
import { formatDateTime } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.playground.refusal;

interface RefusalCardProps {
  readonly error: Error;
  readonly onRetry: () => void;
}

/** Why a request was rejected; for a limit, also its name and a countdown to the retry. */
export function RefusalCard({ error, onRetry }: RefusalCardProps) {
  const waitMs = error instanceof ApiError ? error.response.retryAfterMs : null;
  const [leftMs, setLeftMs] = useState(waitMs);
  useEffect(() => {
    if (waitMs === null) return;
    const endMs = performance.now() + waitMs;
    const timer = setInterval(() => {
      const rest = Math.max(0, endMs - performance.now());
      setLeftMs(rest);
      if (rest === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [waitMs]);
  const resetsAt = error instanceof ApiError ? error.response.resetsAt : null;
  return (
    <div className="space-y-3">
      <ErrorNote error={error} />
      {leftMs === null ? null : (
        <p role="timer" className="text-[13px] font-medium tabular-nums">
          {leftMs === 0 ? words.retryNow : words.retryIn(formatDuration(Math.ceil(leftMs / 1_000) * 1_000))}
        </p>
      )}
      {resetsAt === null ? null : (
        <p className="text-xs text-ink-faint">{words.resets(formatDateTime(resetsAt))}</p>
      )}
      <Button size="small" disabled={leftMs !== null && leftMs > 0} onClick={onRetry}>
        {words.again}
      </Button>
    </div>
  );
}
