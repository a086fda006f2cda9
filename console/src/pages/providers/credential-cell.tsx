import type { Credential } from '@relay/contract';
import { text } from '../../text/index.ts';
import { Signal } from '../../ui/signal.tsx';
import { Ago } from '../../ui/time.tsx';
import type { ProviderRow } from './use-provider-rows.ts';

const words = text.providers;

/** The credential that Relay sends: how old it is and when it was last used, or what is missing. */
export function CredentialCell({ row: { provider, credentials } }: { readonly row: ProviderRow }) {
  if (provider.auth_mode === 'none')
    return <span className="text-ink-faint">{words.credentialNotNeeded}</span>;
  if (!provider.has_credential)
    return credentials.length === 0 ? (
      <Signal tone="bad">{words.credentialMissing}</Signal>
    ) : (
      <Signal tone="warn">{words.credentialDisabled}</Signal>
    );
  const stored = credentials.find(({ enabled }) => enabled);
  return stored === undefined ? words.credentialStored : <Stored credential={stored} />;
}

function Stored({ credential: { created_at: created, last_used_at: used } }: StoredProps) {
  return (
    <span className="block whitespace-nowrap text-ink-soft">
      {words.credentialStored} <Ago at={created} />
      <span className="block text-xs text-ink-faint">
        {used === null ? (
          words.credentialUnused
        ) : (
          <>
            {words.credentialUsed} <Ago at={used} />
          </>
        )}
      </span>
    </span>
  );
}

interface StoredProps {
  readonly credential: Credential;
}

/** Missing first, then the oldest. */
export function credentialOrder({ provider, credentials }: ProviderRow): string {
  if (provider.auth_mode === 'none') return '9999';
  return provider.has_credential ? (credentials.find(({ enabled }) => enabled)?.created_at ?? '') : '';
}
