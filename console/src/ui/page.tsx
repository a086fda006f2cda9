import { type ReactNode, useEffect } from 'react';
import { text } from '../text/index.ts';

interface PageProps {
  /** The link to the parent page, and what stands beside it. */
  readonly back?: ReactNode;
  readonly title: string;
  /** Beside the title: what kind of thing it is. */
  readonly beside?: ReactNode;
  /** Shown instead of the title, which stays the name of the tab. */
  readonly heading?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The layout of every page: title, description and actions. */
export function Page({ back, title, heading = title, beside, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${text.shell.product}`;
  }, [title]);
  return (
    <div className="w-full max-w-[1560px] px-4 pt-3.5 pb-8 sm:px-[24px] sm:pt-4.5 sm:pb-10">
      {back === undefined ? null : (
        <div className="mb-3 -ml-2.5 flex flex-wrap items-center gap-x-2">{back}</div>
      )}
      <header className="mb-4 flex min-h-[30px] flex-wrap items-center justify-between gap-x-6 gap-y-2.5">
        <div className="min-w-0">
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <h1 className="text-xl font-semibold tracking-[-0.012em] [font-stretch:102%]">{heading}</h1>
            {beside}
          </div>
          {description === undefined ? null : <div className="max-w-2xl text-ink-faint">{description}</div>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section: a heavy rule, its title, and content that begins and ends in line with the rule. */
export function Panel({ title, actions, children, className = '' }: PanelProps) {
  return (
    <section className={`min-w-0 border-t-2 border-rule ${className}`}>
      {title === undefined ? null : (
        <header className="flex min-h-[34px] items-center justify-between gap-3 border-b py-1">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className="-mx-4">{children}</div>
    </section>
  );
}

interface PanelProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}
