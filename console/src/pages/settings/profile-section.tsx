import { AccountUpdate, type Session } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, capabilitiesQuery, sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { useAccess } from '../../session/use-access.ts';
import { useLink } from '../../session/use-link.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { DetailList } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { EmailDialog } from './email-dialog.tsx';
import { SaveButton } from './save-button.tsx';
import { SettingPanel } from './setting-panel.tsx';

const words = text.settings.profile;

export function ProfileSection() {
  const { data: session } = useQuery(sessionQuery(useApi()));
  if (session === undefined) return null;
  return (
    <>
      <NamePanel session={session} />
      <EmailPanel session={session} />
    </>
  );
}

function NamePanel({ session }: { readonly session: Session }) {
  const { can } = useAccess();
  const form = useContractForm<{ name: string }>(AccountUpdate, { name: session.user.name });
  const save = useChange({
    run: (api, body: { name: string }) => take(api.PATCH('/api/account', { body })),
    stale: [cacheKeys.session, cacheKeys.members],
    said: () => words.saved,
    onDone: ({ user }) => form.reset({ name: user.name }),
  });
  useFieldErrors(form, save.error);
  const details = (
    <DetailList
      rows={[
        ...(can('updateAccount') ? [] : [[words.name, session.user.name] as const]),
        [words.id, <CopiedValue key="id" value={session.user.id} label={words.copyId} />],
      ]}
    />
  );
  if (!can('updateAccount')) return <SettingPanel title={words.title}>{details}</SettingPanel>;
  return (
    <form onSubmit={submitting(form, (values) => save.mutate(values))}>
      <SettingPanel
        title={words.title}
        actions={<SaveButton busy={save.isPending} disabled={!form.formState.isDirty} />}
      >
        <div className="space-y-5">
          <TextField form={form} name="name" label={words.name} hint={words.nameHint} autoComplete="name" />
          {details}
          <ErrorNote error={save.error} />
        </div>
      </SettingPanel>
    </form>
  );
}

function EmailPanel({ session }: { readonly session: Session }) {
  const { data: capabilities } = useQuery(capabilitiesQuery(useApi()));
  const link = useLink();
  const [changing, setChanging] = useState(link.token !== '');
  const mayChange = session.has_password && capabilities?.accounts === true;
  return (
    <SettingPanel
      title={words.email}
      {...(mayChange
        ? {
            actions: (
              <Button size="small" onClick={() => setChanging(true)}>
                {words.changeEmail}
              </Button>
            ),
          }
        : {})}
    >
      <p className="break-words">{session.user.email}</p>
      <p className="mt-1 text-xs text-ink-faint">{mayChange ? words.emailHint : words.emailFixed}</p>
      {changing ? <EmailDialog link={link} onClose={() => setChanging(false)} /> : null}
    </SettingPanel>
  );
}
