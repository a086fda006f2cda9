import { PasswordChange } from '@relay/contract';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SettingPanel } from './setting-panel.tsx';

const words = text.settings.security;

export function PasswordPanel() {
  const form = useContractForm<PasswordChange>(PasswordChange, { current_password: '', new_password: '' });
  const change = useChange({
    run: (api, body: PasswordChange) => api.POST('/api/account/password', { body }),
    stale: [cacheKeys.browserSessions],
    said: () => words.passwordChanged,
    onDone: () => form.reset(),
  });
  useFieldErrors(form, change.error);
  return (
    <form onSubmit={submitting(form, (values) => change.mutate(values))}>
      <SettingPanel
        title={words.password}
        actions={
          <Button type="submit" size="small" busy={change.isPending} disabled={!form.formState.isDirty}>
            {words.changePassword}
          </Button>
        }
      >
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField
            form={form}
            name="current_password"
            type="password"
            label={words.currentPassword}
            autoComplete="current-password"
          />
          <TextField
            form={form}
            name="new_password"
            type="password"
            label={words.newPassword}
            hint={words.newPasswordHint}
            autoComplete="new-password"
          />
        </div>
        <ErrorNote error={change.error} className="mt-4" />
      </SettingPanel>
    </form>
  );
}
