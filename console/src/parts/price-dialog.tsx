import type { PricingPolicy, ResourceEdit } from '@relay/contract';
import { type FormEvent, useState } from 'react';
import { cacheKeys } from '../api/queries.ts';
import { useChange } from '../api/use-change.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { MORE_PARTS, microsIn, type PriceDraft, priceBodyOf, priceDraftOf } from './price-draft.ts';
import { WhatIfPanel } from './what-if-panel.tsx';

const words = text.endpoints.prices;

interface PriceDialogProps {
  readonly endpointId: string;
  readonly price: PricingPolicy | undefined;
  readonly onClose: () => void;
}

const FIELDS = [
  { name: 'input', label: words.input, unit: words.unit },
  { name: 'output', label: words.output, unit: words.unit },
  { name: 'cached', label: words.cachedInput, unit: words.unit, hint: words.cachedHint },
  { name: 'flat', label: words.flat, unit: words.unitFlat },
] as const;

const MORE_FIELDS = MORE_PARTS.map((name) => ({ name, label: words.parts[name], unit: words.unit }));

/** Prices are typed in dollars, as providers publish them, and stored in whole micro-dollars. */
export function PriceDialog({ endpointId, price, onClose }: PriceDialogProps) {
  const [draft, setDraft] = useState(() => priceDraftOf(price));
  const [hasMore] = useState(() => MORE_PARTS.some((name) => draft[name] !== ''));
  const [tried, setTried] = useState(false);
  const save = useSavePrice(endpointId, price, onClose);
  const remove = useRemovePrice(price, onClose);
  const micros = microsIn(draft);
  const controlOf = (name: keyof PriceDraft) => ({
    value: draft[name],
    isInvalid: tried && micros[name] === undefined,
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const body = priceBodyOf(draft);
    if (body !== null) save.mutate(body);
  };
  return (
    <Dialog open onOpenChange={onClose} title={price === undefined ? words.set : words.edit}>
      <form className="contents" onSubmit={submit}>
        <DialogBody>
          <div className="space-y-5">
            {FIELDS.map(({ name, ...field }) => (
              <MoneyField key={name} {...field} {...controlOf(name)} />
            ))}
            <details className="rounded-lg border" open={hasMore}>
              <summary className="cursor-pointer rounded-lg px-4 py-3 text-[13px] font-medium">
                {words.more}
              </summary>
              <div className="space-y-5 border-t px-4 py-4">
                <p className="text-[13px] text-ink-soft">{words.moreHint}</p>
                <div className="grid gap-5 sm:grid-cols-2">
                  {MORE_FIELDS.map(({ name, ...field }) => (
                    <MoneyField key={name} {...field} {...controlOf(name)} />
                  ))}
                </div>
              </div>
            </details>
            {isChanged(draft, price) ? (
              <WhatIfPanel edit={editOf(endpointId, price, priceBodyOf(draft))} />
            ) : null}
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

type PriceBody = NonNullable<ReturnType<typeof priceBodyOf>>;

function isChanged(draft: PriceDraft, price: PricingPolicy | undefined): boolean {
  return JSON.stringify(draft) !== JSON.stringify(priceDraftOf(price));
}

/** What a save would send, to try it first; null while a price is invalid. */
function editOf(
  endpointId: string,
  price: PricingPolicy | undefined,
  body: PriceBody | null,
): ResourceEdit | null {
  if (body === null) return null;
  if (price === undefined)
    return { operation: 'createPricingPolicy', body: { endpoint_id: endpointId, ...body } };
  return { operation: 'updatePricingPolicy', id: price.id, body };
}

function useSavePrice(endpointId: string, price: PricingPolicy | undefined, onDone: () => void) {
  return useChange({
    run: async (api, body: PriceBody) => {
      if (price === undefined)
        await api.POST('/api/relay/pricing-policies', { body: { endpoint_id: endpointId, ...body } });
      else
        await api.PUT('/api/relay/pricing-policies/{pricing_policy_id}', {
          params: { path: { pricing_policy_id: price.id } },
          body,
        });
    },
    stale: CHANGED_BY_PRICES,
    said: () => words.saved,
    onDone,
  });
}

/** What has no price is left out of sums. */
const CHANGED_BY_PRICES = [
  cacheKeys.prices,
  cacheKeys.endpointStats,
  cacheKeys.laneStats,
  cacheKeys.apiKeyStats,
];

function useRemovePrice(price: PricingPolicy | undefined, onDone: () => void) {
  return useChange({
    run: async (api) => {
      if (price === undefined) return;
      await api.DELETE('/api/relay/pricing-policies/{pricing_policy_id}', {
        params: { path: { pricing_policy_id: price.id } },
      });
    },
    stale: CHANGED_BY_PRICES,
    said: () => words.removed,
    onDone,
  });
}

function MoneyField(props: MoneyFieldProps) {
  const { label, hint, unit, value, isInvalid, onChange } = props;
  return (
    <Field
      label={label}
      optional={unit}
      error={isInvalid ? words.negative : undefined}
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
  readonly isInvalid: boolean;
  readonly onChange: (value: string) => void;
}
