import { type Endpoint, type Lane, LaneCreate } from '@relay/contract';
import { healthName } from '@relay/contract/words';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, endpointsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { hasCode } from '../../errors/api-error.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check } from '../../ui/field.tsx';
import { useEndpointFacts } from './use-endpoint-facts.ts';

const words = text.lanes;

interface CreateLaneDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (lane: Lane) => void;
}

/** The name and first endpoints of a lane. The editor with all other settings opens next. */
export function CreateLaneDialog({ onClose, onCreated }: CreateLaneDialogProps) {
  const endpoints = useQuery(endpointsQuery(useApi()));
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const form = useContractForm<LaneCreate>(LaneCreate, { name: '', description: null });
  const create = useChange({
    run: (api, body: LaneCreate) => {
      const members = chosen.map((endpoint_id) => ({ endpoint_id }));
      return take(api.POST('/api/relay/routing-lanes', { body: { ...body, members } }));
    },
    stale: [cacheKeys.lanes, cacheKeys.memberships],
    said: ({ name }) => words.created(name),
    onDone: onCreated,
  });
  useFieldErrors(form, create.error);
  const isTaken = hasCode(create.error, 'name_taken');
  const toggle = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id]));
  return (
    <Dialog open wide onOpenChange={onClose} title={words.createTitle}>
      <form
        className="contents"
        onSubmit={submitting(form, (values) =>
          create.mutate({ ...values, ...(isTaken ? { takes_over: true } : {}) }),
        )}
      >
        <DialogBody>
          <div className="space-y-5">
            <TextField form={form} name="name" label={words.name} hint={words.nameHintEmpty} autoFocus />
            <TextField
              form={form}
              name="description"
              label={words.descriptionField}
              optional={text.states.optional}
            />
            <EndpointChoice endpoints={endpoints.data} chosen={chosen} onToggle={toggle} />
            <ErrorNote error={create.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={create.isPending}>
          {isTaken ? words.createAnyway : words.create}
        </FormActions>
      </form>
    </Dialog>
  );
}

interface EndpointChoiceProps {
  /** Undefined while they load. */
  readonly endpoints: readonly Endpoint[] | undefined;
  /** By rank. */
  readonly chosen: readonly string[];
  readonly onToggle: (endpointId: string) => void;
}

function EndpointChoice({ endpoints, chosen, onToggle }: EndpointChoiceProps) {
  const factsOf = useEndpointFacts();
  return (
    <fieldset>
      <legend className="text-[13px] font-medium">{words.endpoints}</legend>
      <p className="mb-3 text-xs text-ink-faint">
        {endpoints?.length === 0 ? words.noEndpoints : words.endpointsHint}
      </p>
      <ul className="max-h-64 space-y-2.5 overflow-y-auto">
        {endpoints?.map((endpoint) => {
          const { id, name, health } = endpoint;
          const place = chosen.indexOf(id) + 1;
          const { source, price } = factsOf(endpoint);
          return (
            <li key={id} className="flex items-center justify-between gap-3">
              <Check
                label={name}
                hint={[source, price, healthName(health)].filter((fact) => fact !== null).join(' · ')}
                checked={place > 0}
                onChange={() => onToggle(id)}
              />
              {place > 0 ? (
                <span className="grid size-5 place-items-center rounded bg-hover text-[11px] text-ink">
                  {place}
                </span>
              ) : null}
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}
