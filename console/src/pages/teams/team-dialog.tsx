import { type Team, TeamCreate } from '@relay/contract';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { SelectField, TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.teams;

interface TeamDialogProps {
  /** Null for a new one. */
  readonly team: Team | null;
  readonly teams: readonly Team[];
  readonly onClose: () => void;
}

export function TeamDialog({ team, teams, onClose }: TeamDialogProps) {
  const form = useContractForm<TeamCreate>(TeamCreate, {
    name: team?.name ?? '',
    kind: team?.kind ?? 'team',
    parent_id: team?.parent_id ?? null,
  });
  const save = useChange({
    run: (api, { name, kind = 'team', parent_id = null }: TeamCreate) => {
      const body = { name, kind, parent_id };
      return team === null
        ? take(api.POST('/api/relay/teams', { body }))
        : take(api.PUT('/api/relay/teams/{team_id}', { params: { path: { team_id: team.id } }, body }));
    },
    stale: [cacheKeys.teams],
    said: ({ name }) => (team === null ? words.created(name) : words.saved(name)),
    onDone: onClose,
  });
  useFieldErrors(form, save.error);
  // Teams are nested one level deep: a parent has no parent.
  const parents = teams.filter(({ id, parent_id: above }) => id !== team?.id && above === null);
  return (
    <Dialog open onOpenChange={onClose} title={team === null ? words.createTitle : words.editTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => save.mutate(values))}>
        <DialogBody>
          <div className="space-y-5">
            <TextField form={form} name="name" label={words.name} autoFocus />
            <SelectField form={form} name="kind" label={words.kind}>
              {Object.entries(words.kinds).map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
            <SelectField form={form} name="parent_id" label={words.parent} hint={words.parentHint} nullable>
              <option value="">{words.noParent}</option>
              {parents.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
            <ErrorNote error={save.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={save.isPending}>
          {team === null ? words.create : text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}
