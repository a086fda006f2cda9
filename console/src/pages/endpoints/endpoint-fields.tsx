import type { EndpointCreate, ModelFacts } from '@relay/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { take } from '../../api/client.ts';
import { credentialsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { NumberField, SelectField, SwitchField, TextField } from '../../forms/fields.tsx';
import type { useContractForm } from '../../forms/use-contract-form.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';

const words = text.endpoints;

interface EndpointFieldsProps {
  readonly form: ReturnType<typeof useContractForm<EndpointCreate>>;
  readonly providerId: string;
}

/** The upstream model, with suggestions from the provider after the user loads them. */
export function ModelField({ form, providerId }: EndpointFieldsProps) {
  const api = useApi();
  const { can } = useAccess();
  const list = useId();
  const models = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/relay/providers/{provider_id}/test', { params: { path: { provider_id: id } } })),
  });
  const facts = useModelFacts(form);
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
          if (model !== '' && providerId !== '' && can('getModelFacts')) facts.mutate({ providerId, model });
        }}
      />
      <datalist id={list}>
        {models.data?.model_ids.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {facts.data === undefined ? null : <FactsLine facts={facts.data} />}
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

/** What Relay's price list says of a model. Its context window fills an empty field. */
function useModelFacts(form: EndpointFieldsProps['form']) {
  const api = useApi();
  return useMutation({
    mutationFn: ({ providerId, model }: { readonly providerId: string; readonly model: string }) => {
      const query = { provider_id: providerId, upstream_model: model };
      return take(api.GET('/api/relay/prices/model', { params: { query } }));
    },
    onSuccess: ({ context_window }) => {
      if (context_window !== null && (form.getValues('context_window') ?? null) === null)
        form.setValue('context_window', context_window, { shouldDirty: true });
    },
  });
}

function FactsLine({ facts }: { readonly facts: ModelFacts }) {
  const { context_window, input_cost_micros_per_1m_tokens: input } = facts;
  const output = facts.output_cost_micros_per_1m_tokens;
  const said = [
    context_window === null ? [] : [words.listedContext(formatCount(context_window))],
    input === null || output === null ? [] : [words.listedPrice(formatMoney(input), formatMoney(output))],
  ].flat();
  if (said.length === 0) return null;
  return <p className="mt-1 text-xs text-ink-faint">{words.listed(said.join('; '))}</p>;
}

/** Settings that most endpoints keep at their defaults. */
export function AdvancedFields({ form, providerId }: EndpointFieldsProps) {
  const { can } = useAccess();
  const credentials = useQuery({ ...credentialsQuery(useApi()), enabled: can('listCredentials') });
  const own = credentials.data?.filter(({ provider_id: id }) => id === providerId) ?? [];
  return (
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
  );
}
