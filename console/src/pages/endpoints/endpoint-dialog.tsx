import { type Endpoint, EndpointCreate } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { take } from '../../api/client.ts';
import { cacheKeys, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { hasCode } from '../../errors/api-error.ts';
import { SelectField, TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { AdvancedFields, ModelField } from './endpoint-fields.tsx';

const words = text.endpoints;
const KINDS = Object.entries(words.kinds);
const PROTOCOLS = Object.entries(words.protocols);

interface EndpointDialogProps {
  /** The one to edit; null for a new one. */
  readonly endpoint: Endpoint | null;
  readonly onClose: () => void;
  readonly onSaved: (endpoint: Endpoint) => void;
}

export function EndpointDialog({ endpoint, onClose, onSaved }: EndpointDialogProps) {
  const api = useApi();
  const { can } = useAccess();
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const form = useContractForm<EndpointCreate>(EndpointCreate, {
    provider_id: endpoint?.provider_id ?? '',
    name: endpoint?.name ?? '',
    upstream_model: endpoint?.upstream_model ?? '',
    route_kind: endpoint?.route_kind ?? 'multi',
    protocol: endpoint?.protocol ?? 'openai',
    credential_id: endpoint?.credential_id ?? null,
    supports_streaming: endpoint?.supports_streaming ?? true,
    pacing: endpoint?.pacing ?? true,
    max_concurrency: endpoint?.max_concurrency ?? null,
    context_window: endpoint?.context_window ?? null,
    max_latency_ms: endpoint?.max_latency_ms ?? 600_000,
  });
  const save = useSaveEndpoint(endpoint, onSaved);
  useFieldErrors(form, save.error);
  const isTaken = hasCode(save.error, 'name_taken');
  const providerId = form.watch('provider_id');
  return (
    <Dialog open wide onOpenChange={onClose} title={endpoint === null ? words.createTitle : words.editTitle}>
      <form
        className="contents"
        onSubmit={submitting(form, (values) =>
          save.mutate({ ...values, ...(isTaken ? { takes_over: true } : {}) }),
        )}
      >
        <DialogBody>
          <div className="space-y-5">
            {endpoint === null ? (
              <SelectField form={form} name="provider_id" label={words.provider}>
                <option value="" />
                {providers.data?.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </SelectField>
            ) : null}
            <ModelField form={form} providerId={providerId} />
            <TextField form={form} name="name" label={words.name} hint={words.nameHint} />
            <SelectField form={form} name="protocol" label={words.protocol} hint={words.protocolHint}>
              {PROTOCOLS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </SelectField>
            <SelectField form={form} name="route_kind" label={words.kind}>
              {KINDS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </SelectField>
            <AdvancedFields form={form} providerId={providerId} />
            <ErrorNote error={save.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={save.isPending}>
          {isTaken ? words.saveAnyway : endpoint === null ? words.create : text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}

function useSaveEndpoint(endpoint: Endpoint | null, onSaved: (endpoint: Endpoint) => void) {
  return useChange({
    run: (client, values: EndpointCreate) => {
      if (endpoint === null) return take(client.POST('/api/relay/endpoints', { body: values }));
      const { provider_id: _fixed, ...body } = values;
      return take(
        client.PUT('/api/relay/endpoints/{endpoint_id}', {
          params: { path: { endpoint_id: endpoint.id } },
          body,
        }),
      );
    },
    stale: [cacheKeys.endpoints, cacheKeys.prices],
    said: ({ name }) => (endpoint === null ? words.created(name) : words.saved(name)),
    onDone: onSaved,
  });
}
