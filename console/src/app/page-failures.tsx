import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { ErrorCard } from '../ui/states.tsx';

/** Shown when a page fails to load or render. The shell stays usable. */
export function PageCrashed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title={text.errors.crashed}>
      <ErrorCard error={error instanceof Error ? error : new Error(String(error))} onRetry={retry} />
    </Page>
  );
}

export function PageNotFound() {
  return (
    <Page title={text.errors.notFound}>
      <Button asChild>
        <Link to="/">{text.errors.goHome}</Link>
      </Button>
    </Page>
  );
}
