import type { ApiKey } from '@relay/contract';
import { useState } from 'react';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { LabelsField } from '../../parts/labels-field.tsx';
import { labelsOf, textOf } from '../../parts/labels-text.ts';
import { TeamField } from '../../parts/team-field.tsx';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.teams;

interface AttributionDialogProps {
  readonly apiKey: ApiKey;
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

/** The team that a key's requests count for, and the labels that reports divide them by. */
export function AttributionDialog({ apiKey, isOwn, onClose }: AttributionDialogProps) {
  const [teamId, setTeamId] = useState(apiKey.team_id);
  const [typed, setTyped] = useState(() => textOf(apiKey.labels));
  const labels = labelsOf(typed);
  const save = useChange({
    run: async (api) => {
      const params = { path: { api_key_id: apiKey.id } };
      const body = { team_id: teamId, labels: labels ?? {} };
      if (!isOwn) await api.PUT('/api/org/api-keys/{api_key_id}', { params, body });
      else
        await api.PATCH('/api/account/api-keys/{api_key_id}', {
          params,
          body: { ...body, name: apiKey.name },
        });
    },
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys],
    said: () => words.attributed(apiKey.name),
    onDone: onClose,
  });
  return (
    <Dialog open onOpenChange={onClose} title={words.attributionTitle(apiKey.name)}>
      <DialogBody>
        <div className="space-y-5">
          <TeamField value={teamId} onChange={setTeamId} none={words.teamOfOwner} />
          <LabelsField value={typed} onChange={setTyped} />
          <ErrorNote error={save.error} />
        </div>
      </DialogBody>
      <FormActions
        onCancel={onClose}
        busy={save.isPending}
        disabled={labels === null}
        onSave={() => save.mutate(undefined)}
      >
        {text.actions.save}
      </FormActions>
    </Dialog>
  );
}
