import type { Provider } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useEffect, useState } from 'react';
import { credentialsQuery, HEALTH_REFRESH } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/detail-list.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { CredentialLine } from './credential-line.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const words = text.providers.credentials;

interface CredentialSectionProps {
  readonly provider: Provider;
  readonly mayWrite: boolean;
  /** Opens with the dialog that sets the credential. */
  readonly isStarted: boolean;
}

/** The credentials that Relay sends to the provider. A secret can be set and replaced, never read. */
export function CredentialSection({ provider, mayWrite, isStarted }: CredentialSectionProps) {
  const credentials = useQuery({ ...credentialsQuery(useApi()), ...HEALTH_REFRESH });
  const own = credentials.data?.filter(({ provider_id: id }) => id === provider.id);
  const notNeeded = provider.auth_mode === 'none';
  const maySet = mayWrite && !notNeeded && own?.length === 0;
  const [adding, setAdding] = useState(false);
  const [starts, setStarts] = useState(isStarted);
  const isRead = own !== undefined;
  // Later than the panel around it, which would take the focus from the dialog.
  useEffect(() => {
    if (!starts || !isRead) return;
    setStarts(false);
    if (maySet) setAdding(true);
  }, [starts, isRead, maySet]);
  // Relay uses an enabled one.
  const current = own?.find(({ enabled }) => enabled) ?? own?.[0];
  return (
    <Section
      title={words.title}
      actions={
        maySet ? (
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
            <CredentialLine
              key={credential.id}
              provider={provider}
              credential={credential}
              mayWrite={mayWrite}
              isStarted={isStarted && credential === current}
            />
          ))}
        </ul>
      )}
      {adding ? (
        <SecretDialog provider={provider} credential={null} onClose={() => setAdding(false)} />
      ) : null}
    </Section>
  );
}
