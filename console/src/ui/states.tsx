import { CircleAlert, Lock, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { classes } from './class-names.ts';
import { ErrorFooter, messageOf } from './error-note.tsx';

interface StateProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

function State({ icon, title, children, action }: StateProps) {
  return (
    <div className="flex flex-col items-center rounded-xl border border-dashed border-line-strong bg-panel px-6 py-14 text-center">
      <div className="mb-4 grid size-11 place-items-center rounded-xl border bg-sunken text-ink-soft [&_svg]:size-5">
        {icon}
      </div>
      <p className="max-w-md text-[15px] font-medium text-balance">{title}</p>
      {children}
      {action === undefined ? null : <div className="mt-5">{action}</div>}
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
      icon={<SearchX aria-hidden />}
      title={text.states.nothingMatches}
      action={<Button onClick={onClear}>{text.states.clearFilters}</Button>}
    />
  );
}

/** A failed read with message, request ID and retry. A 403 names the missing scope. */
export function ErrorCard({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const forbidden = error instanceof ApiError && error.status === 403;
  return (
    <div role="alert" className="rounded-xl border bg-panel p-6">
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
  return <span aria-hidden className={classes('block h-3.5 animate-pulse rounded bg-line', className)} />;
}
