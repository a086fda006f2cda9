import type { Session } from '@relay/contract';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { EmptyState } from '../ui/states.tsx';
import { useSignOut } from './use-sign-out.ts';

/** All that a suspended member sees. */
export function Suspended({ session }: { readonly session: Session }) {
  const signOut = useSignOut();
  return (
    <main className="mx-auto max-w-xl px-4 py-24">
      <EmptyState
        title={text.shell.suspended(session.org.name)}
        action={
          <>
            <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
              {text.shell.signOut}
            </Button>
            <ErrorNote error={signOut.error} />
          </>
        }
      />
    </main>
  );
}
