import type { Member } from '@relay/contract';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TeamField } from '../../parts/team-field.tsx';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.teams;

interface MemberTeamDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

export function MemberTeamDialog({ member, onClose }: MemberTeamDialogProps) {
  const [teamId, setTeamId] = useState(member.team_id);
  const save = useChange({
    run: (api) =>
      take(
        api.PATCH('/api/org/members/{user_id}', {
          params: { path: { user_id: member.id } },
          body: { team_id: teamId },
        }),
      ),
    stale: [cacheKeys.members],
    said: ({ name }) => words.teamChanged(name),
    onDone: onClose,
  });
  return (
    <Dialog open onOpenChange={onClose} title={words.changeTeamTitle(member.name)}>
      <DialogBody>
        <TeamField value={teamId} onChange={setTeamId} none={words.noTeam} hint={words.changeTeamHint} />
        <ErrorNote error={save.error} className="mt-4" />
      </DialogBody>
      <FormActions
        onCancel={onClose}
        busy={save.isPending}
        disabled={teamId === member.team_id}
        onSave={() => save.mutate(undefined)}
      >
        {text.actions.save}
      </FormActions>
    </Dialog>
  );
}
