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

interface EmailDialogProps {
  /** The link to the new address that opened this page; empty without one. */
  readonly link: { readonly token: string; readonly email: string };
  readonly onClose: () => void;
}

export function EmailDialog({ link, onClose }: EmailDialogProps) {
  const form = useContractForm<EmailChange>(EmailChange, { email: link.email, password: '' });
  const change = useChange({
    run: async (api, body: EmailChange) => {
      // A link proves the address that it was sent to, and no other.
      const token = body.email === link.email ? { token: link.token } : {};
      const { user } = await take(api.POST('/api/account/email', { body: { ...body, ...token } }));
      return { user, asked: body.email };
    },
    stale: [cacheKeys.session, cacheKeys.members],
    said: ({ user, asked }) =>
      user.email === asked.trim().toLowerCase() ? words.emailChanged(user.email) : words.emailLinkSent(asked),
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
