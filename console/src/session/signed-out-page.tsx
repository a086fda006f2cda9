import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { text } from '../text/index.ts';
import { Mark } from '../ui/mark.tsx';

/** The frame of pages without a session: a title above one panel, and what else one can do below. */
export function SignedOutPage({
  title,
  children,
  below,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly below?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${text.shell.product}`;
  }, [title]);
  return (
    <div className="grid min-h-dvh grid-rows-[44px_1fr]">
      <header className="flex items-center gap-[9px] bg-board px-4 text-[15px] font-semibold text-board-ink [font-stretch:104%]">
        <Mark />
        {text.shell.product}
      </header>
      <main className="grid place-items-center px-4 py-12">
        <div className="w-full max-w-sm">
          <h1 className="mb-4 text-xl font-semibold tracking-[-0.012em] [font-stretch:102%]">{title}</h1>
          {children}
          {below}
        </div>
      </main>
    </div>
  );
}

export function Panel({ children }: { readonly children: ReactNode }) {
  return <div className="rounded-xl border border-t-[3px] border-t-rule bg-panel p-6">{children}</div>;
}

export function SignInLink() {
  return (
    <p className="mt-5 text-center text-[13px]">
      <Link to="/" className="link">
        {text.signIn.submit}
      </Link>
    </p>
  );
}
