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
    <main className="grid min-h-dvh place-items-center px-4 py-12">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center gap-4 [&_svg]:size-10">
          <Mark />
          <h1 className="text-xl font-semibold">{title}</h1>
        </div>
        {children}
        {below}
      </div>
    </main>
  );
}

export function Panel({ children }: { readonly children: ReactNode }) {
  return <div className="rounded-xl border bg-panel p-6">{children}</div>;
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
