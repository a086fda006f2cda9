import type { Credential, Provider } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { EllipsisVertical, KeyRound, Power, RotateCcwKey, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, credentialsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Section } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const words = text.providers.credentials;
const STALE = [cacheKeys.credentials, cacheKeys.providers];

interface CredentialSectionProps {
  readonly provider: Provider;
  readonly mayWrite: boolean;
}

/** What is sent to sign in at the provider. Secrets go in and never come out. */
export function CredentialSection({ provider, mayWrite }: CredentialSectionProps) {
  const [adding, setAdding] = useState(false);
  const credentials = useQuery(credentialsQuery(useApi()));
  const own = credentials.data?.filter(({ provider_id: id }) => id === provider.id);
  const notNeeded = provider.auth_mode === 'none';
  return (
    <Section
      title={words.title}
      actions={
        mayWrite && !notNeeded && own?.length === 0 ? (
          <Button size="small" onClick={() => setAdding(true)}>
            <KeyRound aria-hidden className="size-3.5" />
            {words.set}
          </Button>
        ) : undefined
      }
    >
      {credentials.error !== null && own === undefined ? (
        <ErrorCard error={credentials.error} onRetry={() => void credentials.refetch()} />
      ) : own === undefined ? (
        <Skeleton className="w-48" />
      ) : own.length === 0 ? (
        <p className="text-[13px] text-ink-soft">{notNeeded ? words.notNeeded : words.none}</p>
      ) : (
        <ul className="divide-y rounded-lg border">
          {own.map((credential) => (
            <CredentialLine key={credential.id} credential={credential} mayWrite={mayWrite} />
          ))}
        </ul>
      )}
      {adding ? (
        <SecretDialog providerId={provider.id} credential={null} onClose={() => setAdding(false)} />
      ) : null}
    </Section>
  );
}

function CredentialLine({ credential, mayWrite }: CredentialLineProps) {
  const [asked, setAsked] = useState<'replace' | 'delete' | null>(null);
  const params = { path: { credential_id: credential.id } };
  const toggle = useChange({
    run: (api) =>
      take(
        api.PUT('/api/relay/credentials/{credential_id}', { params, body: { enabled: !credential.enabled } }),
      ),
    stale: STALE,
  });
  const remove = useChange({
    run: (api) => api.DELETE('/api/relay/credentials/{credential_id}', { params }),
    stale: STALE,
    said: () => words.removed(credential.name),
  });
  return (
    <li className="px-3.5 py-2.5">
      <div className="flex items-center gap-3">
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
        {mayWrite && credential.managed_by !== 'file' ? (
          <>
            <Button size="small" onClick={() => setAsked('replace')}>
              {words.replace}
            </Button>
            <Menu
              trigger={
                <IconButton label={text.actions.more}>
                  <EllipsisVertical aria-hidden className="size-4" />
                </IconButton>
              }
            >
              <MenuItem icon={<RotateCcwKey aria-hidden />} onSelect={() => setAsked('replace')}>
                {words.replaceTitle}
              </MenuItem>
              <MenuItem icon={<Power aria-hidden />} onSelect={() => toggle.mutate(undefined)}>
                {credential.enabled ? words.disable : words.enable}
              </MenuItem>
              <MenuLine />
              <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={() => setAsked('delete')}>
                {words.remove}
              </MenuItem>
            </Menu>
          </>
        ) : null}
      </div>
      <ErrorNote error={toggle.error} className="mt-2" />
      {asked === 'replace' ? (
        <SecretDialog
          providerId={credential.provider_id}
          credential={credential}
          onClose={() => setAsked(null)}
        />
      ) : null}
      <ConfirmDialog
        open={asked === 'delete'}
        onOpenChange={(isOpen) => setAsked(isOpen ? 'delete' : null)}
        title={words.removeTitle(credential.name)}
        action={text.actions.delete}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>{words.removeBody}</p>
      </ConfirmDialog>
    </li>
  );
}

interface CredentialLineProps {
  readonly credential: Credential;
  readonly mayWrite: boolean;
}
