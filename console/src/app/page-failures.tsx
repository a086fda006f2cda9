import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { ApiError, Explained, Unreachable } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, ErrorCard } from '../ui/states.tsx';
import { useOpenPalette } from './use-palette.ts';

/** Shown when a page fails to load or render. The shell stays usable. */
export function PageCrashed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const isKnown = error instanceof ApiError || error instanceof Unreachable;
  return (
    <Page title={text.errors.crashed}>
      <ErrorCard error={isKnown ? error : new Explained(text.errors.crashedHint)} onRetry={retry} />
    </Page>
  );
}

export function PageNotFound() {
  const openPalette = useOpenPalette();
  return (
    <Page title={text.errors.notFound}>
      <EmptyState
        title={text.errors.noSuchPage(window.location.pathname)}
        action={
          <div className="flex flex-wrap justify-center gap-2">
            <Button asChild look="solid">
              <Link to="/">{text.errors.goHome}</Link>
            </Button>
            <Button onClick={openPalette}>{text.errors.search}</Button>
          </div>
        }
      />
    </Page>
  );
}
