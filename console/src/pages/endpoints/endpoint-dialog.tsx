import { type Endpoint, EndpointCreate } from '@relay/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, credentialsQuery, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { NumberField, SelectField, SwitchField, TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.endpoints;
const KINDS = Object.entries(words.kinds);

interface EndpointDialogProps {
  /** The one to change; null for a new one. */
  readonly endpoint: Endpoint | null;
  readonly onClose: () => void;
  readonly onSaved: (endpoint: Endpoint) => void;
}

export function EndpointDialog({ endpoint, onClose, onSaved }: EndpointDialogProps) {
  const api = useApi();
  const { can } = useAccess();
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const credentials = useQuery({ ...credentialsQuery(api), enabled: can('listCredentials') });
  const form = useContractForm<EndpointCreate>(EndpointCreate, {
    provider_id: endpoint?.provider_id ?? '',
    name: endpoint?.name ?? '',
    upstream_model: endpoint?.upstream_model ?? '',
    route_kind: endpoint?.route_kind ?? 'multi',
    credential_id: endpoint?.credential_id ?? null,
    supports_streaming: endpoint?.supports_streaming ?? true,
    pacing: endpoint?.pacing ?? true,
    max_concurrency: endpoint?.max_concurrency ?? null,
    context_window: endpoint?.context_window ?? null,
    max_latency_ms: endpoint?.max_latency_ms ?? 600_000,
  });
  const save = useChange({
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
  useFieldErrors(form, save.error);
  const providerId = form.watch('provider_id');
  const own = credentials.data?.filter(({ provider_id: id }) => id === providerId) ?? [];
  return (
    <Dialog open wide onOpenChange={onClose} title={endpoint === null ? words.createTitle : words.editTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => save.mutate(values))}>
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
            <SelectField form={form} name="route_kind" label={words.kind}>
              {KINDS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </SelectField>
            <details className="rounded-lg border">
              <summary className="cursor-pointer rounded-lg px-4 py-3 text-[13px] font-medium">
                {words.advanced}
              </summary>
              <div className="space-y-5 border-t px-4 py-4">
                <SwitchField
                  form={form}
                  name="supports_streaming"
                  label={words.streaming}
                  hint={words.streamingHint}
                />
                <SwitchField form={form} name="pacing" label={words.pacing} hint={words.pacingHint} />
                {own.length > 1 ? (
                  <SelectField form={form} name="credential_id" label={words.credential} nullable>
                    <option value="">{words.credentialDefault}</option>
                    {own.map(({ id, name }) => (
                      <option key={id} value={id}>
                        {name}
                      </option>
                    ))}
                  </SelectField>
                ) : null}
                <div className="grid gap-5 sm:grid-cols-2">
                  <NumberField
                    form={form}
                    name="max_concurrency"
                    label={words.concurrency}
                    hint={words.concurrencyHint}
                    nullable
                    min={1}
                  />
                  <NumberField
                    form={form}
                    name="context_window"
                    label={words.context}
                    hint={words.contextHint}
                    unit={words.tokens}
                    nullable
                    min={1}
                  />
                  <NumberField
                    form={form}
                    name="max_latency_ms"
                    label={words.latencyMax}
                    unit={words.milliseconds}
                    min={1}
                  />
                </div>
              </div>
            </details>
            <ErrorNote error={save.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={save.isPending}>
          {endpoint === null ? words.create : text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}

interface ModelFieldProps {
  readonly form: ReturnType<typeof useContractForm<EndpointCreate>>;
  readonly providerId: string;
}

/** The upstream name, with the provider's own list to choose from once it was asked for. */
function ModelField({ form, providerId }: ModelFieldProps) {
  const api = useApi();
  const { can } = useAccess();
  const list = useId();
  const models = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/relay/providers/{provider_id}/test', { params: { path: { provider_id: id } } })),
  });
  const failed = models.isError || models.data?.model_ids.length === 0;
  return (
    <div>
      <TextField
        form={form}
        name="upstream_model"
        label={words.model}
        hint={failed ? words.modelsFailed : words.modelHint}
        spellCheck={false}
        list={list}
        onFilled={(model) => {
          if (form.getValues('name') === '') form.setValue('name', model, { shouldValidate: true });
        }}
      />
      <datalist id={list}>
        {models.data?.model_ids.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {providerId !== '' && can('testProvider') && models.data === undefined ? (
        <Button
          size="small"
          className="mt-2"
          busy={models.isPending}
          onClick={() => models.mutate(providerId)}
        >
          {words.loadModels}
        </Button>
      ) : null}
    </div>
  );
}
