import type { Session } from '@relay/contract';
import { useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { EmptyState } from '../ui/states.tsx';
import { LeaveDialog } from './leave-dialog.tsx';
import { useSignOut } from './use-sign-out.ts';
import { useSwitchOrganization } from './use-switch-organization.ts';

/** All that a suspended member sees: the ways out. */
export function Suspended({ session }: { readonly session: Session }) {
  const signOut = useSignOut();
  const change = useSwitchOrganization();
  const [leaving, setLeaving] = useState(false);
  return (
    <main className="mx-auto max-w-xl px-4 py-24">
      <EmptyState
        title={text.shell.suspended(session.org.name)}
        action={
          <>
            {session.orgs.map(({ id, name }) => (
              <Button key={id} look="solid" busy={change.isPending} onClick={() => change.mutate(id)}>
                {text.shell.switchTo(name)}
              </Button>
            ))}
            <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
              {text.shell.signOut}
            </Button>
            <Button onClick={() => setLeaving(true)}>{text.members.leaveAction}</Button>
            <ErrorNote error={change.error ?? signOut.error} />
            {leaving ? <LeaveDialog session={session} onClose={() => setLeaving(false)} /> : null}
          </>
        }
      />
    </main>
  );
}
