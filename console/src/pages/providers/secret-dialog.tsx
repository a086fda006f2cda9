import type { Credential, Provider } from '@relay/contract';
import { type FormEvent, useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SecretField } from './secret-field.tsx';

const words = text.providers.credentials;

interface SecretDialogProps {
  readonly provider: Provider;
  /** The credential to replace; null to set the first. */
  readonly credential: Credential | null;
  readonly onClose: () => void;
}

export function SecretDialog({ provider, credential, onClose }: SecretDialogProps) {
  const [secret, setSecret] = useState('');
  const store = useChange({
    run: (api) =>
      credential === null
        ? take(
            api.POST('/api/relay/credentials', {
              body: { provider_id: provider.id, name: words.nameValue, secret },
            }),
          )
        : take(
            api.PUT('/api/relay/credentials/{credential_id}', {
              params: { path: { credential_id: credential.id } },
              body: { secret },
            }),
          ),
    stale: [cacheKeys.credentials, cacheKeys.providers],
    said: ({ name }) => words.stored(name),
    onDone: onClose,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    store.mutate(undefined);
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={credential === null ? words.addTitle : words.replaceTitle(credential.name)}
      description={words.forProvider(provider.name)}
    >
      <form className="contents" onSubmit={submit}>
        <DialogBody>
          <SecretField authMode={provider.auth_mode} value={secret} onChange={setSecret} autoFocus />
          <ErrorNote error={store.error} className="mt-4" />
        </DialogBody>
        <FormActions onCancel={onClose} busy={store.isPending} disabled={secret === ''}>
          {text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}
