import type { Member } from '@relay/contract';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { RoleChoice } from './role-choice.tsx';

const words = text.members;

interface RoleDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

export function RoleDialog({ member, onClose }: RoleDialogProps) {
  const [role, setRole] = useState(member.role);
  const save = useChange({
    run: (api) =>
      take(
        api.PATCH('/api/org/members/{user_id}', { params: { path: { user_id: member.id } }, body: { role } }),
      ),
    // Changing one's own role changes one's access.
    stale: [cacheKeys.members, cacheKeys.session, cacheKeys.capabilities],
    said: (saved) => words.roleChanged(saved.name, words.roles[saved.role].name),
    onDone: onClose,
  });
  return (
    <Dialog open onOpenChange={onClose} title={words.changeRoleTitle(member.name)}>
      <DialogBody>
        <RoleChoice value={role} onChange={setRole} />
        <ErrorNote error={save.error} className="mt-4" />
      </DialogBody>
      <FormActions
        onCancel={onClose}
        busy={save.isPending}
        disabled={role === member.role}
        onSave={() => save.mutate(undefined)}
      >
        {text.actions.save}
      </FormActions>
    </Dialog>
  );
}
