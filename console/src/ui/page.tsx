import { type ReactNode, useEffect } from 'react';
import { text } from '../text/index.ts';

interface PageProps {
  /** The link to the parent page. */
  readonly back?: ReactNode;
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The layout of every page: title, description and actions. */
export function Page({ back, title, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${text.shell.product}`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-[1240px] px-4 py-6 sm:px-8 sm:py-8">
      {back}
      <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-4">
        <div className="min-w-0">
          <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{title}</h1>
          {description === undefined ? null : (
            <div className="mt-1.5 max-w-2xl text-ink-soft">{description}</div>
          )}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A bordered section, with a title if the page has several. */
export function Panel({ title, actions, children, className = '' }: PanelProps) {
  return (
    <section className={`rounded-xl border bg-panel shadow-panel ${className}`}>
      {title === undefined ? null : (
        <header className="flex items-center justify-between gap-3 border-b px-4 py-2.5">
          <h2 className="text-[13px] font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

interface PanelProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}
