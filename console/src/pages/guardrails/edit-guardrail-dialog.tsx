import { type Guardrail, GuardrailCreate, type GuardrailUpdate } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { guardrailPresetsQuery } from '../../api/guardrail-queries.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check } from '../../ui/field.tsx';
import { AddressFields, AdvancedFields, BehaviourFields } from './guardrail-fields.tsx';
import { SecretField } from './secret-field.tsx';
import { useJsonTexts } from './use-json-texts.ts';

const words = text.guardrails.form;

interface EditGuardrailDialogProps {
  readonly guardrail: Guardrail;
  readonly onClose: () => void;
}

export function EditGuardrailDialog({ guardrail, onClose }: EditGuardrailDialogProps) {
  const [secret, setSecret] = useState('');
  const [removes, setRemoves] = useState(false);
  const texts = useJsonTexts(guardrail);
  const presets = useQuery(guardrailPresetsQuery(useApi()));
  const preset = presets.data?.find(({ slug }) => slug === guardrail.preset_slug);
  // Validated as a new guardrail, because the form has all fields while updates may omit some.
  const form = useContractForm<GuardrailCreate>(GuardrailCreate, {
    name: guardrail.name,
    base_url: guardrail.base_url,
    http_method: guardrail.http_method,
    auth_mode: guardrail.auth_mode,
    secret_header_name: guardrail.secret_header_name,
    pre_dispatch_enabled: guardrail.pre_dispatch_enabled,
    post_response_enabled: guardrail.post_response_enabled,
    failure_mode: guardrail.failure_mode,
    timeout_ms: guardrail.timeout_ms,
    priority: guardrail.priority,
    max_request_bytes: guardrail.max_request_bytes,
    max_response_bytes: guardrail.max_response_bytes,
  });
  const save = useSaveGuardrail(guardrail, onClose);
  useFieldErrors(form, save.error);
  const submit = (values: GuardrailCreate) => {
    const own = texts.read();
    if (own === null) return;
    const withSecret = removes ? { secret: null } : secret === '' ? {} : { secret };
    save.mutate({ ...values, ...own, ...withSecret });
  };
  return (
    <Dialog open wide onOpenChange={onClose} title={words.editTitle}>
      <form className="contents" onSubmit={submitting(form, submit)}>
        <DialogBody>
          <div className="space-y-5">
            <AddressFields form={form} />
            {removes ? null : (
              <SecretField
                value={secret}
                onChange={setSecret}
                hint={guardrail.has_credential ? words.secretKept : words.secretHint}
              />
            )}
            {guardrail.has_credential ? (
              <Check
                label={words.secretRemove}
                checked={removes}
                onChange={(event) => setRemoves(event.target.checked)}
              />
            ) : null}
            <BehaviourFields form={form} />
            <AdvancedFields form={form} texts={texts} preset={preset} />
            <ErrorNote error={save.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={save.isPending}>
          {text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}

function useSaveGuardrail(guardrail: Guardrail, onDone: () => void) {
  return useChange({
    run: (api, body: GuardrailUpdate) =>
      take(
        api.PUT('/api/relay/guardrails/{guardrail_id}', {
          params: { path: { guardrail_id: guardrail.id } },
          body,
        }),
      ),
    stale: [cacheKeys.guardrails, cacheKeys.guardrail],
    said: ({ name }) => text.guardrails.saved(name),
    onDone,
  });
}
