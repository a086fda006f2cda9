import type { Lane } from '@relay/contract';
import { text } from '../../text/index.ts';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { LaneDraft } from './lane-draft.ts';
import { WaitBudgetField } from './wait-budget-field.tsx';

const words = text.lanes.editor;

interface LaneSettingsProps {
  readonly lane: Lane;
  readonly draft: LaneDraft;
  readonly disabled: boolean;
  readonly set: (part: Partial<LaneDraft>) => void;
}

export function LaneSettings({ lane, draft, disabled, set }: LaneSettingsProps) {
  const flag = (name: 'allow_fallback' | 'hidden' | 'enabled', label: string, hint?: string) => (
    <div className="flex items-start justify-between gap-4">
      <div>
        <p className="text-[13px] font-medium">{label}</p>
        {hint === undefined ? null : <p className="text-xs text-ink-faint">{hint}</p>}
      </div>
      <Switch
        checked={draft[name]}
        disabled={disabled}
        label={label}
        onChange={(value) => set({ [name]: value })}
      />
    </div>
  );
  return (
    <div className="space-y-6 p-4">
      <WaitBudgetField
        laneId={lane.id}
        valueMs={draft.default_max_wait_ms}
        savedMs={lane.default_max_wait_ms}
        disabled={disabled}
        onChange={(value) => set({ default_max_wait_ms: value })}
      />
      <ChosenSettings draft={draft} disabled={disabled} set={set} />
      {flag('allow_fallback', words.fallback, words.fallbackHint)}
      <Field label={words.hold} hint={words.holdHint}>
        {(control) => (
          <Input
            {...control}
            type="number"
            min={0}
            max={60_000}
            step={1}
            disabled={disabled || !draft.allow_fallback}
            value={draft.hold_ms}
            className="w-28 text-right"
            onChange={(event) => set({ hold_ms: boundedMs(event.target.value) })}
          />
        )}
      </Field>
      {flag('hidden', words.hidden, words.hiddenHint)}
      {flag('enabled', words.enabled)}
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={text.lanes.name}>
          {(control) => (
            <Input
              {...control}
              disabled={disabled}
              maxLength={200}
              value={draft.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={text.lanes.descriptionField} optional={text.states.optional}>
          {(control) => (
            <Input
              {...control}
              disabled={disabled}
              maxLength={2_000}
              value={draft.description}
              onChange={(event) => set({ description: event.target.value })}
            />
          )}
        </Field>
      </div>
    </div>
  );
}

function boundedMs(text: string): number {
  return Math.min(60_000, Math.max(0, Math.round(Number(text)) || 0));
}

function ChosenSettings({ draft, disabled, set }: Omit<LaneSettingsProps, 'lane'>) {
  return (
    <>
      <Field label={words.selection}>
        {(control) => (
          <Choice
            {...control}
            disabled={disabled}
            value={draft.selection}
            options={optionsOf(words.selections)}
            onChange={(selection) => set({ selection })}
          />
        )}
      </Field>
      <Field label={words.priority} hint={words.priorityHint}>
        {(control) => (
          <Choice
            {...control}
            disabled={disabled}
            value={draft.priority}
            options={optionsOf(words.priorities)}
            onChange={(priority) => set({ priority })}
          />
        )}
      </Field>
    </>
  );
}
