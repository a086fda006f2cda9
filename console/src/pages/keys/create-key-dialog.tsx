import { ApiKeyCreate, expandScopes, isScope, type Scope, scopes as scopeTable } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { apiKeyScopesQuery, cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check, Field, Select } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { OwnerField } from './owner-field.tsx';

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
  /** Whether it may be made for somebody else. */
  readonly forMembers: boolean;
  readonly onClose: () => void;
  readonly onCreated: (secret: string) => void;
}

export function CreateKeyDialog({ forMembers, onClose, onCreated }: CreateKeyDialogProps) {
  const allowed = useQuery(apiKeyScopesQuery(useApi()));
  const [expiry, setExpiry] = useState<string>('never');
  const [ownerId, setOwnerId] = useState<string | null>(null);
  const form = useContractForm<ApiKeyCreate>(ApiKeyCreate, { name: '', scopes: ['relay:request'] });
  const create = useChange({
    run: (api, values: ApiKeyCreate) => {
      const days = EXPIRIES.find(({ id }) => id === expiry)?.days ?? null;
      const expiresAt = days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString();
      const body = { ...values, expires_at: expiresAt };
      return ownerId === null
        ? take(api.POST('/api/account/api-keys', { body }))
        : take(api.POST('/api/org/api-keys', { body: { ...body, user_uuid: ownerId } }));
    },
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys],
    onDone: ({ api_key: secret }) => onCreated(secret),
  });
  useFieldErrors(form, create.error);
  const chosen = form.watch('scopes');
  const setChosen = (scopes: readonly string[]) =>
    form.setValue('scopes', [...scopes], { shouldValidate: true });
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
            <fieldset>
              <legend className="text-[13px] font-medium">{words.scopes}</legend>
              <div className="mt-1 mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
                <p className="text-xs text-ink-faint">{words.scopesHint}</p>
                <span className="ml-auto flex gap-2">
                  <Button size="small" onClick={() => setChosen(['relay:request'])}>
                    {words.inference}
                  </Button>
                  <Button size="small" onClick={() => setChosen(allowed.data ?? [])}>
                    {words.everything}
                  </Button>
                </span>
              </div>
              {allowed.data === undefined ? (
                <div className="space-y-3">
                  <Skeleton className="w-64" />
                  <Skeleton className="w-72" />
                </div>
              ) : (
                <ScopeList allowed={allowed.data} chosen={chosen} onChange={setChosen} />
              )}
              <ErrorNote error={allowed.error} className="mt-3" />
              {form.formState.errors.scopes === undefined ? null : (
                <p className="mt-2 text-xs text-bad">{words.scopesMissing}</p>
              )}
            </fieldset>
            <ErrorNote error={create.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={create.isPending}>
          {words.create}
        </FormActions>
      </form>
    </Dialog>
  );
}

/** The scopes with their sentences. What another one brings along is ticked and cannot be taken away alone. */
function ScopeList({ allowed, chosen, onChange }: ScopeListProps) {
  const known = chosen.filter((scope): scope is Scope => isScope(scope));
  const held = new Set<string>(expandScopes(known));
  return (
    <ul className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
      {allowed
        .filter((scope): scope is Scope => isScope(scope))
        .map((scope) => (
          <li key={scope}>
            <Check
              label={<span className="font-mono text-xs">{scope}</span>}
              hint={scopeTable[scope]}
              checked={held.has(scope)}
              disabled={held.has(scope) && !chosen.includes(scope)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
              }
            />
          </li>
        ))}
    </ul>
  );
}

interface ScopeListProps {
  readonly allowed: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
}
