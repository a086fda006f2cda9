import { InvitationCreate, type InvitationCreated } from '@relay/contract';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { RoleChoice } from './role-choice.tsx';

const words = text.members;

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly onInvited: (created: InvitationCreated) => void;
}

export function InviteDialog({ onClose, onInvited }: InviteDialogProps) {
  const form = useContractForm<InvitationCreate>(InvitationCreate, { email: '', role: 'developer' });
  const invite = useChange({
    run: (api, body: InvitationCreate) => take(api.POST('/api/org/invitations', { body })),
    stale: [cacheKeys.invitations],
    onDone: onInvited,
  });
  useFieldErrors(form, invite.error);
  return (
    <Dialog open onOpenChange={onClose} title={words.inviteTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => invite.mutate(values))}>
        <DialogBody>
          <div className="space-y-5">
            <TextField
              form={form}
              name="email"
              type="email"
              label={words.email}
              hint={words.emailHint}
              autoFocus
            />
            <RoleChoice
              value={form.watch('role')}
              onChange={(role) => form.setValue('role', role, { shouldDirty: true })}
            />
            <ErrorNote error={invite.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={invite.isPending}>
          {words.createInvitation}
        </FormActions>
      </form>
    </Dialog>
  );
}
