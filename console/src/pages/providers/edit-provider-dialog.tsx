import { type Provider, ProviderCreate } from '@relay/contract';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { SwitchField, TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ConnectionFields } from './connection-fields.tsx';

const words = text.providers;

interface EditProviderDialogProps {
  readonly provider: Provider;
  readonly onClose: () => void;
}

export function EditProviderDialog({ provider, onClose }: EditProviderDialogProps) {
  // Validated as a new provider, because the form has all fields while updates may omit some.
  const form = useContractForm<ProviderCreate>(ProviderCreate, {
    name: provider.name,
    base_url: provider.base_url,
    auth_mode: provider.auth_mode,
    auth_header_name: provider.auth_header_name,
    aws_region: provider.aws_region,
    aws_service: provider.aws_service,
    extra_headers: provider.extra_headers,
    extra_query: provider.extra_query,
    max_latency_ms: provider.max_latency_ms,
    health_probe: provider.health_probe,
    enabled: provider.enabled,
  });
  const save = useChange({
    run: (api, body: ProviderCreate) =>
      take(
        api.PUT('/api/relay/providers/{provider_id}', {
          params: { path: { provider_id: provider.id } },
          body,
        }),
      ),
    stale: [cacheKeys.providers],
    said: ({ name }) => words.saved(name),
    onDone: onClose,
  });
  useFieldErrors(form, save.error);
  return (
    <Dialog open wide onOpenChange={onClose} title={words.edit}>
      <form className="contents" onSubmit={submitting(form, (values) => save.mutate(values))}>
        <DialogBody>
          <div className="space-y-5">
            <TextField form={form} name="name" label={words.name} autoFocus />
            <ConnectionFields form={form} />
            <SwitchField form={form} name="enabled" label={text.states.enabled} />
            <ErrorNote error={save.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={save.isPending} disabled={!form.formState.isDirty}>
          {text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}
