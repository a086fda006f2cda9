import type { PricingPolicy } from '@relay/contract';
import { type FormEvent, useState } from 'react';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { dollarsOf, microsOf } from '../../forms/dollars.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field, Input } from '../../ui/field.tsx';

const words = text.endpoints.prices;

interface PriceDialogProps {
  readonly endpointId: string;
  readonly price: PricingPolicy | undefined;
  readonly onClose: () => void;
}

/** Prices are typed in dollars, as providers publish them, and kept in whole micro-dollars. */
export function PriceDialog({ endpointId, price, onClose }: PriceDialogProps) {
  const [input, setInput] = useState(dollarsOf(price?.input_cost_micros_per_1m_tokens ?? null));
  const [cached, setCached] = useState(dollarsOf(price?.cached_input_cost_micros_per_1m_tokens ?? null));
  const [output, setOutput] = useState(dollarsOf(price?.output_cost_micros_per_1m_tokens ?? null));
  const [flat, setFlat] = useState(dollarsOf(price?.flat_request_cost_micros ?? 0));
  const [tried, setTried] = useState(false);
  const inputMicros = microsOf(input);
  const outputMicros = microsOf(output);
  const cachedMicros = cached.trim() === '' ? null : microsOf(cached);
  const flatMicros = microsOf(flat.trim() === '' ? '0' : flat);
  const isValid =
    inputMicros !== undefined &&
    outputMicros !== undefined &&
    cachedMicros !== undefined &&
    flatMicros !== undefined;
  const save = useChange({
    run: async (api) => {
      if (!isValid) return;
      const body = {
        input_cost_micros_per_1m_tokens: inputMicros,
        output_cost_micros_per_1m_tokens: outputMicros,
        cached_input_cost_micros_per_1m_tokens: cachedMicros,
        flat_request_cost_micros: flatMicros,
      };
      if (price === undefined)
        await api.POST('/api/relay/pricing-policies', { body: { endpoint_id: endpointId, ...body } });
      else
        await api.PUT('/api/relay/pricing-policies/{pricing_policy_id}', {
          params: { path: { pricing_policy_id: price.id } },
          body,
        });
    },
    stale: [cacheKeys.prices],
    said: () => words.saved,
    onDone: onClose,
  });
  const remove = useChange({
    run: async (api) => {
      if (price === undefined) return;
      await api.DELETE('/api/relay/pricing-policies/{pricing_policy_id}', {
        params: { path: { pricing_policy_id: price.id } },
      });
    },
    stale: [cacheKeys.prices],
    said: () => words.removed,
    onDone: onClose,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (isValid) save.mutate(undefined);
  };
  const shared = { tried, unit: words.unit };
  return (
    <Dialog open onOpenChange={onClose} title={price === undefined ? words.set : words.edit}>
      <form className="contents" onSubmit={submit}>
        <DialogBody>
          <div className="space-y-5">
            <MoneyField
              {...shared}
              label={words.input}
              value={input}
              valid={inputMicros !== undefined}
              onChange={setInput}
            />
            <MoneyField
              {...shared}
              label={words.output}
              value={output}
              valid={outputMicros !== undefined}
              onChange={setOutput}
            />
            <MoneyField
              {...shared}
              label={words.cachedInput}
              hint={words.cachedHint}
              value={cached}
              valid={cachedMicros !== undefined}
              onChange={setCached}
            />
            <MoneyField
              {...shared}
              unit={words.unitFlat}
              label={words.flat}
              value={flat}
              valid={flatMicros !== undefined}
              onChange={setFlat}
            />
            <ErrorNote error={save.error ?? remove.error} />
          </div>
        </DialogBody>
        <DialogActions>
          {price === undefined ? null : (
            <Button
              look="quiet"
              className="mr-auto text-bad"
              busy={remove.isPending}
              onClick={() => remove.mutate(undefined)}
            >
              {words.remove}
            </Button>
          )}
          <Button onClick={onClose}>{text.actions.cancel}</Button>
          <Button type="submit" look="solid" busy={save.isPending}>
            {text.actions.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function MoneyField(props: MoneyFieldProps) {
  const { label, hint, unit, value, valid, tried, onChange } = props;
  return (
    <Field
      label={label}
      optional={unit}
      error={tried && !valid ? words.negative : undefined}
      {...(hint === undefined ? {} : { hint })}
    >
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface MoneyFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly unit: string;
  readonly value: string;
  readonly valid: boolean;
  readonly tried: boolean;
  readonly onChange: (value: string) => void;
}
