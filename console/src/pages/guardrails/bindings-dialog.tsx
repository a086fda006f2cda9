import type { Guardrail, GuardrailBinding, GuardrailBindingsUpdate } from '@relay/contract';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { matches } from '../../format/matches.ts';
import { keysOf } from '../../format/values.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check } from '../../ui/field.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { StreamsWarning } from './streams-warning.tsx';
import { GLOBAL_KEY, keyOf, type Target, type TargetType, useTargets } from './use-target-names.ts';

const words = text.guardrails.bindings;
const GROUPS = keysOf(words.groups);
/** The API's limit on the length of `bound_to`. */
const PREVIEW_CHARACTERS_MAX = 8_000;

interface BindingsDialogProps {
  readonly guardrail: Guardrail;
  readonly bindings: readonly GuardrailBinding[];
  readonly onClose: () => void;
}

/** Selects the bindings of a guardrail and predicts how many requests it would reject. */
export function BindingsDialog({ guardrail, bindings, onClose }: BindingsDialogProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(bindings.map(keyOf)));
  const [query, setQuery] = useState('');
  const targets = useTargets();
  const save = useChange({
    run: (api, body: GuardrailBindingsUpdate) =>
      take(
        api.PUT('/api/relay/guardrails/{guardrail_id}/bindings', {
          params: { path: { guardrail_id: guardrail.id } },
          body,
        }),
      ),
    stale: [cacheKeys.guardrails, cacheKeys.guardrail, cacheKeys.guardrailStats],
    said: () => words.saved(guardrail.name),
    onDone: onClose,
  });
  const choose = (key: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(key);
    else next.delete(key);
    setChosen(next);
  };
  return (
    <Dialog open wide onOpenChange={onClose} title={words.dialog(guardrail.name)} description={words.hint}>
      <DialogBody>
        <div className="space-y-4">
          <Check
            label={words.everything}
            hint={words.everythingHint}
            checked={chosen.has(GLOBAL_KEY)}
            onChange={(event) => choose(GLOBAL_KEY, event.target.checked)}
          />
          <SearchInput label={words.search} value={query} onChange={setQuery} />
          {targets === undefined ? (
            <Skeleton className="h-24 w-full" />
          ) : (
            <TargetLists
              targets={targets.filter(({ name, note, id }) => matches(query, name, note, id))}
              chosen={chosen}
              onChoose={choose}
            />
          )}
          <ErrorNote error={save.error} />
        </div>
      </DialogBody>
      <div className="border-t px-5 py-3">
        <Preview guardrail={guardrail} chosen={chosen} />
      </div>
      <FormActions
        onCancel={onClose}
        busy={save.isPending}
        onSave={() => save.mutate({ bindings: [...chosen].map((key) => bindingOf(key, bindings)) })}
      >
        {words.save}
      </FormActions>
    </Dialog>
  );
}

/** Keeps a disabled binding disabled. */
function bindingOf(key: string, before: readonly GuardrailBinding[]) {
  const enabled = before.find((binding) => keyOf(binding) === key)?.enabled ?? true;
  if (key === GLOBAL_KEY) return { target_type: 'global', target_id: null, enabled } as const;
  const [type = '', id = ''] = key.split(':');
  return { target_type: type as TargetType, target_id: id, enabled };
}

interface TargetListsProps {
  readonly targets: readonly Target[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (key: string, isChosen: boolean) => void;
}

function TargetLists({ targets, chosen, onChoose }: TargetListsProps) {
  if (targets.length === 0) return <p className="text-[13px] text-ink-soft">{words.nothing}</p>;
  return GROUPS.map((type) => {
    const ofType = targets.filter((target) => target.type === type);
    if (ofType.length === 0) return null;
    return (
      <fieldset key={type}>
        <legend className="mb-2 text-xs font-medium text-ink-faint">{words.groups[type]}</legend>
        <ul className="grid gap-x-4 gap-y-2.5 sm:grid-cols-2">
          {ofType.map(({ key, name, note }) => (
            <li key={key} className="min-w-0">
              <Check
                label={name}
                hint={<span className="block truncate font-mono text-[11px]">{note}</span>}
                checked={chosen.has(key)}
                onChange={(event) => onChoose(key, event.target.checked)}
              />
            </li>
          ))}
        </ul>
      </fieldset>
    );
  });
}

function Preview({
  guardrail,
  chosen,
}: {
  readonly guardrail: Guardrail;
  readonly chosen: ReadonlySet<string>;
}) {
  const boundTo = [...chosen].sort().join(',');
  if (chosen.size === 0) return <p className="text-[13px] text-ink-soft">{words.none}</p>;
  if (boundTo.length > PREVIEW_CHARACTERS_MAX) return null;
  return <StreamsWarning guardrailId={guardrail.id} boundTo={boundTo} now={guardrail.enabled} />;
}
