import type { Credential, Provider } from '@relay/contract';
import { Power, RotateCcwKey, Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx';
import { Ago } from '../../ui/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const words = text.providers.credentials;
const STALE = [cacheKeys.credentials, cacheKeys.providers];

interface CredentialLineProps {
  readonly provider: Provider;
  readonly credential: Credential;
  readonly mayWrite: boolean;
  /** Opens with the dialog that replaces it. */
  readonly isStarted: boolean;
}

/** One credential: when it was last used, and how to replace, disable or remove it. */
export function CredentialLine({ provider, credential, mayWrite, isStarted }: CredentialLineProps) {
  const mayReplace = mayWrite && credential.managed_by !== 'file';
  const [asked, setAsked] = useState<'replace' | 'delete' | null>(null);
  // Later than the panel around it, which would take the focus from the dialog.
  useEffect(() => {
    if (isStarted && mayReplace) setAsked('replace');
  }, [isStarted, mayReplace]);
  const toggle = useToggle(credential);
  const remove = useRemove(credential);
  return (
    <li className="px-3.5 py-2.5">
      <div className="flex items-center gap-3">
        <CredentialName credential={credential} />
        {mayReplace ? (
          <>
            <Button size="small" onClick={() => setAsked('replace')}>
              {words.replace}
            </Button>
            <MoreMenu>
              <MenuItem icon={<RotateCcwKey aria-hidden />} onSelect={() => setAsked('replace')}>
                {words.replace}
              </MenuItem>
              <MenuItem icon={<Power aria-hidden />} onSelect={() => toggle.mutate(undefined)}>
                {credential.enabled ? words.disable : words.enable}
              </MenuItem>
              <MenuLine />
              <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={() => setAsked('delete')}>
                {words.remove}
              </MenuItem>
            </MoreMenu>
          </>
        ) : null}
      </div>
      <ErrorNote error={toggle.error} className="mt-2" />
      {asked === 'replace' ? (
        <SecretDialog provider={provider} credential={credential} onClose={() => setAsked(null)} />
      ) : null}
      <ConfirmDialog
        open={asked === 'delete'}
        onOpenChange={(isOpen) => setAsked(isOpen ? 'delete' : null)}
        title={words.removeTitle(credential.name)}
        action={words.removeAction}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>{words.removeBody}</p>
        <LimitsDeletedWith id={credential.id} />
      </ConfirmDialog>
    </li>
  );
}

function CredentialName({ credential }: Pick<CredentialLineProps, 'credential'>) {
  return (
    <div className="min-w-0 flex-1">
      <p className="flex items-center gap-2 text-[13px] font-medium">
        <span className="truncate">{credential.name}</span>
        {credential.enabled ? null : <Badge tone="warn">{words.off}</Badge>}
      </p>
      <p className="text-xs text-ink-faint">
        {words.created} <Ago at={credential.created_at} /> ·{' '}
        {credential.last_used_at === null ? (
          words.neverUsed
        ) : (
          <>
            {words.lastUsed} <Ago at={credential.last_used_at} />
          </>
        )}
      </p>
    </div>
  );
}

function useToggle(credential: Credential) {
  return useChange({
    run: (api) =>
      take(
        api.PUT('/api/relay/credentials/{credential_id}', {
          params: { path: { credential_id: credential.id } },
          body: { enabled: !credential.enabled },
        }),
      ),
    stale: STALE,
  });
}

function useRemove(credential: Credential) {
  return useChange({
    run: (api) =>
      api.DELETE('/api/relay/credentials/{credential_id}', {
        params: { path: { credential_id: credential.id } },
      }),
    stale: STALE,
    said: () => words.removed(credential.name),
  });
}
