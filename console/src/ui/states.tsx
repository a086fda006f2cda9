import { CircleAlert, Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { classes } from './class-names.ts';
import { ErrorFooter, messageOf } from './error-note.tsx';

interface StateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

function State({ title, children, action }: StateProps) {
  return (
    <div className="flex flex-col items-start gap-2 border-t-2 border-rule pt-2">
      <EmptyTrack />
      <p className="max-w-xl text-[15px] leading-5 font-medium text-balance">{title}</p>
      {children}
      {action === undefined ? null : <div className="mt-1.5 flex flex-wrap gap-2">{action}</div>}
    </div>
  );
}

/** A track with its gate, and nothing on it. */
function EmptyTrack() {
  return (
    <div aria-hidden className="relative mb-2 h-6 w-full max-w-xl border-b-2 border-line-strong">
      <span className="absolute -bottom-[5px] left-[58%] h-[24px] w-[2px] bg-ink" />
    </div>
  );
}

/** An empty list: one sentence and one action. */
export function EmptyState(props: Omit<StateProps, 'children'>) {
  return <State {...props} />;
}

/** No row matches the filters. */
export function NothingMatches({ onClear }: { readonly onClear: () => void }) {
  return (
    <State
      title={text.states.nothingMatches}
      action={<Button onClick={onClear}>{text.states.clearFilters}</Button>}
    />
  );
}

/** A failed read with message, request ID and retry. A 403 names the missing scope. */
export function ErrorCard({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const forbidden = error instanceof ApiError && error.status === 403;
  return (
    <div
      role="alert"
      className={classes('border-l-[3px] py-0.5 pl-3', forbidden ? 'border-warn' : 'border-bad')}
    >
      <div className="flex gap-3">
        <div className={classes('mt-0.5', forbidden ? 'text-warn' : 'text-bad')}>
          {forbidden ? (
            <Lock aria-hidden className="size-5" />
          ) : (
            <CircleAlert aria-hidden className="size-5" />
          )}
        </div>
        <div className="min-w-0 flex-1">
          <p className="font-medium">{forbidden ? text.states.forbidden : text.states.failed}</p>
          <p className="mt-1 text-ink-soft">{messageOf(error)}</p>
          <div className="text-ink-soft">
            <ErrorFooter error={error} />
          </div>
          {forbidden ? null : (
            <Button className="mt-4" onClick={onRetry}>
              {text.actions.retry}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

/** A placeholder for loading text. */
export function Skeleton({ className }: { readonly className?: string }) {
  return (
    <span aria-hidden data-skeleton="" className={classes('block h-2.5 rounded-[1px] bg-line', className)} />
  );
}
