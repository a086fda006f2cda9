import { EmailChange } from '@relay/contract';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.settings.profile;

export function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useContractForm<EmailChange>(EmailChange, { email: '', password: '' });
  const change = useChange({
    run: (api, body: EmailChange) => take(api.POST('/api/account/email', { body })),
    stale: [cacheKeys.session, cacheKeys.members],
    said: ({ user }) => words.emailChanged(user.email),
    onDone: onClose,
  });
  useFieldErrors(form, change.error);
  return (
    <Dialog open onOpenChange={onClose} title={words.changeEmail}>
      <form className="contents" onSubmit={submitting(form, (values) => change.mutate(values))}>
        <DialogBody>
          <div className="space-y-4">
            <TextField
              form={form}
              name="email"
              type="email"
              label={words.newEmail}
              autoComplete="email"
              autoFocus
            />
            <TextField
              form={form}
              name="password"
              type="password"
              label={text.settings.security.proof}
              hint={text.settings.security.proofHint}
              autoComplete="current-password"
            />
            <ErrorNote error={change.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={change.isPending}>
          {words.changeEmail}
        </FormActions>
      </form>
    </Dialog>
  );
}
