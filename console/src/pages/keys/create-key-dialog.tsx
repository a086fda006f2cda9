import { ApiKeyCreate } from '@relay/contract';
import { useState } from 'react';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { LabelsField } from '../../parts/labels-field.tsx';
import { labelsOf } from '../../parts/labels-text.ts';
import { TeamField } from '../../parts/team-field.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { BudgetField, limitsOf, noBudget } from './budget-field.tsx';
import { createKey, type NewKey } from './create-key.ts';
import { type Expiry, ExpiryField, expiresAtOf } from './expiry-field.tsx';
import { firstScopes } from './first-scopes.ts';
import { OwnerField } from './owner-field.tsx';
import { ScopesField } from './scopes-field.tsx';

const words = text.keys;

interface CreateKeyDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (created: NewKey) => void;
}

/** Name, owner and team, budget and expiry; what few keys need is behind "More options". */
export function CreateKeyDialog({ onClose, onCreated }: CreateKeyDialogProps) {
  const { can, holds } = useAccess();
  const [expiry, setExpiry] = useState<Expiry>('days90');
  const [budget, setBudget] = useState(noBudget);
  const [teamId, setTeamId] = useState<string | null>(null);
  const [labels, setLabels] = useState('');
  const [ownerId, setOwnerId] = useState<string | null>(null);
  const form = useContractForm<ApiKeyCreate>(ApiKeyCreate, { name: '', scopes: [...firstScopes(holds)] });
  const create = useChange({
    run: (api, values: ApiKeyCreate) => {
      const body = {
        ...values,
        expires_at: expiresAtOf(expiry),
        labels: labelsOf(labels) ?? {},
        ...(teamId !== null && { team_id: teamId }),
      };
      return createKey(api, { body, ownerId, limits: limitsOf(budget) ?? [] });
    },
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys, cacheKeys.apiKeyBudgets, cacheKeys.limitUsage],
    onDone: onCreated,
  });
  useFieldErrors(form, create.error);
  const isScopeMissing = form.formState.errors.scopes !== undefined;
  return (
    <Dialog open onOpenChange={onClose} title={words.createTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => create.mutate(values))}>
        <DialogBody>
          <div className="space-y-4">
            <TextField form={form} name="name" label={words.name} hint={words.nameHint} autoFocus />
            {/* Side by side; without one of them, the other takes the whole width. */}
            <div className="flex gap-3 *:flex-1 empty:hidden max-sm:flex-col max-sm:gap-4">
              <OwnerField value={ownerId} onChange={setOwnerId} />
              <TeamField value={teamId} onChange={setTeamId} none={text.teams.teamOfOwner} />
            </div>
            {can('upsertApiKeyLimitPolicy') ? <BudgetField value={budget} onChange={setBudget} /> : null}
            <ExpiryField value={expiry} onChange={setExpiry} />
            {holds('relay:request') ? null : <p className="text-xs text-ink-soft">{words.readsOnly}</p>}
            <details {...(isScopeMissing && { open: true })}>
              <summary className="w-fit cursor-pointer font-medium text-ink-soft">{words.more}</summary>
              <div className="mt-4 space-y-4">
                <LabelsField value={labels} onChange={setLabels} />
                <ScopesField
                  chosen={form.watch('scopes')}
                  isMissing={isScopeMissing}
                  onChange={(scopes) => form.setValue('scopes', [...scopes], { shouldValidate: true })}
                />
              </div>
            </details>
            <ErrorNote error={create.error} />
          </div>
        </DialogBody>
        <FormActions
          onCancel={onClose}
          busy={create.isPending}
          disabled={labelsOf(labels) === null || limitsOf(budget) === null}
        >
          {words.create}
        </FormActions>
      </form>
    </Dialog>
  );
}
