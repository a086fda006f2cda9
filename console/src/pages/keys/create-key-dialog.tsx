import { ApiKeyCreate } from '@relay/contract';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { LabelsField } from '../../parts/labels-field.tsx';
import { labelsOf } from '../../parts/labels-text.ts';
import { TeamField } from '../../parts/team-field.tsx';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { OwnerField } from './owner-field.tsx';
import type { NewKey } from './rotate-key.ts';
import { ScopesField } from './scopes-field.tsx';

const words = text.keys;
const DAY_MS = 86_400_000;
const EXPIRIES = [
  { id: 'never', label: words.expiries.never, days: null },
  { id: 'days7', label: words.expiries.days7, days: 7 },
  { id: 'days30', label: words.expiries.days30, days: 30 },
  { id: 'days90', label: words.expiries.days90, days: 90 },
  { id: 'year', label: words.expiries.year, days: 365 },
] as const;

interface CreateKeyDialogProps {
  /** Whether the caller can create keys for other members. */
  readonly forMembers: boolean;
  readonly onClose: () => void;
  readonly onCreated: (created: NewKey) => void;
}

export function CreateKeyDialog({ forMembers, onClose, onCreated }: CreateKeyDialogProps) {
  const [expiry, setExpiry] = useState<string>('never');
  const [teamId, setTeamId] = useState<string | null>(null);
  const [labels, setLabels] = useState('');
  const [ownerId, setOwnerId] = useState<string | null>(null);
  const form = useContractForm<ApiKeyCreate>(ApiKeyCreate, { name: '', scopes: ['relay:request'] });
  const create = useChange({
    run: (api, values: ApiKeyCreate) => {
      const days = EXPIRIES.find(({ id }) => id === expiry)?.days ?? null;
      const expiresAt = days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString();
      const body = {
        ...values,
        expires_at: expiresAt,
        labels: labelsOf(labels) ?? {},
        ...(teamId !== null && { team_id: teamId }),
      };
      return ownerId === null
        ? take(api.POST('/api/account/api-keys', { body }))
        : take(api.POST('/api/org/api-keys', { body: { ...body, user_uuid: ownerId } }));
    },
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys],
    onDone: ({ api_key: secret, key: { id } }) => onCreated({ secret, id }),
  });
  useFieldErrors(form, create.error);
  return (
    <Dialog open wide onOpenChange={onClose} title={words.createTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => create.mutate(values))}>
        <DialogBody>
          <div className="space-y-5">
            <div className="grid gap-5 sm:grid-cols-[2fr_1fr]">
              <TextField form={form} name="name" label={words.name} hint={words.nameHint} autoFocus />
              <Field label={words.expires}>
                {(control) => (
                  <Select {...control} value={expiry} onChange={(event) => setExpiry(event.target.value)}>
                    {EXPIRIES.map(({ id, label }) => (
                      <option key={id} value={id}>
                        {label}
                      </option>
                    ))}
                  </Select>
                )}
              </Field>
            </div>
            {forMembers ? <OwnerField value={ownerId} onChange={setOwnerId} /> : null}
            <TeamField value={teamId} onChange={setTeamId} none={text.teams.teamOfOwner} />
            <LabelsField value={labels} onChange={setLabels} />
            <ScopesField
              chosen={form.watch('scopes')}
              isMissing={form.formState.errors.scopes !== undefined}
              onChange={(scopes) => form.setValue('scopes', [...scopes], { shouldValidate: true })}
            />
            <ErrorNote error={create.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={create.isPending} disabled={labelsOf(labels) === null}>
          {words.create}
        </FormActions>
      </form>
    </Dialog>
  );
}
