import { useRef, useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { formatDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { PricePlanList } from './price-plan-list.tsx';
import { type PlannedPrices, usePricePlan } from './use-price-plan.ts';

const words = text.priceImport;

/** Plans the prices of a public price list, and applies those that the user approves. */
export function ImportPricesDialog({ onClose }: { readonly onClose: () => void }) {
  const plan = usePricePlan();
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const picker = useRef<HTMLInputElement>(null);
  const apply = useApply(accepted, onClose);
  const planned = plan.data;
  const count = planned === undefined ? 0 : toSet(planned, accepted);
  const toggle = (endpointId: string) =>
    setAccepted((before) => {
      const next = new Set(before);
      if (!next.delete(endpointId)) next.add(endpointId);
      return next;
    });
  return (
    <Dialog open wide onOpenChange={onClose} title={words.title} description={words.description}>
      <DialogBody>
        <div className="space-y-5">
          <div className="flex flex-wrap gap-2">
            <input
              ref={picker}
              type="file"
              hidden
              accept=".json,application/json"
              onChange={(event) => {
                const [chosen] = event.target.files ?? [];
                setAccepted(new Set());
                if (chosen !== undefined) plan.mutate(chosen);
                // Allows choosing the same file again after it changed.
                event.target.value = '';
              }}
            />
            <Button busy={plan.isPending} onClick={() => picker.current?.click()}>
              {words.choose}
            </Button>
            <Button onClick={() => plan.mutate({ source: 'catalog' })}>{words.catalog}</Button>
          </div>
          {planned === undefined ? null : (
            <>
              <p className="text-[13px] text-ink-soft">
                {words.summary(
                  words.sources[planned.plan.source] ?? planned.plan.source,
                  formatDay(planned.plan.as_of),
                )}
              </p>
              <PricePlanList rows={planned.plan.rows} accepted={accepted} onAccept={toggle} />
            </>
          )}
          <ErrorNote error={plan.error ?? apply.error} />
        </div>
      </DialogBody>
      <FormActions
        onCancel={onClose}
        busy={apply.isPending}
        disabled={planned === undefined || count === 0}
        onSave={() => {
          if (planned !== undefined) apply.mutate(planned);
        }}
      >
        {words.apply(count)}
      </FormActions>
    </Dialog>
  );
}

function useApply(accepted: ReadonlySet<string>, onDone: () => void) {
  return useChange({
    run: (api, { request, plan }: PlannedPrices) =>
      take(
        api.POST('/api/relay/prices/apply', {
          body: { ...request, plan_hash: plan.plan_hash, accept: [...accepted] },
        }),
      ),
    stale: [cacheKeys.prices, cacheKeys.endpoints],
    said: ({ applied }) => words.applied(applied.length),
    onDone,
  });
}

function toSet({ plan }: PlannedPrices, accepted: ReadonlySet<string>): number {
  return plan.rows.filter(
    ({ action, held_back, managed_by_file, endpoint_id }) =>
      (action === 'add' || action === 'change') &&
      !managed_by_file &&
      (held_back === null || accepted.has(endpoint_id)),
  ).length;
}
