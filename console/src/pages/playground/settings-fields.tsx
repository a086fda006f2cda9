import { text } from '../../text/index.ts';
import { Choice } from '../../ui/choice.tsx';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { type Operation, playable, type Settings } from './request.ts';

const words = text.playground;

interface SettingsFieldsProps {
  readonly settings: Settings;
  /** Whether a lane or model can answer the operation. */
  readonly isServed: (operation: Operation) => boolean;
  readonly onChange: (settings: Settings) => void;
}

/** The settings of every request; empty ones are not sent. */
export function SettingsFields({ settings, isServed, onChange }: SettingsFieldsProps) {
  const set = (part: Partial<Settings>) => onChange({ ...settings, ...part });
  const numberOf = (value: string) => (value === '' ? null : Number(value));
  return (
    <Panel title={words.settings}>
      <div className="space-y-4 px-4 py-3">
        <Field label={words.operation}>
          {(control) => (
            <Choice
              {...control}
              value={settings.operation}
              options={playable.map((value) => ({
                value,
                label: words.operations[value],
                disabled: !isServed(value),
              }))}
              onChange={(operation) => set({ operation })}
            />
          )}
        </Field>
        {settings.operation === 'embeddings' ? null : (
          <>
            <Field label={words.system} hint={words.systemHint}>
              {(control) => (
                <TextArea
                  {...control}
                  rows={3}
                  value={settings.system}
                  onChange={(event) => set({ system: event.target.value })}
                />
              )}
            </Field>
            <Field label={words.maxTokens} optional={text.states.optional}>
              {(control) => (
                <Input
                  {...control}
                  type="number"
                  min={1}
                  step={1}
                  value={settings.maxTokens ?? ''}
                  onChange={(event) => set({ maxTokens: numberOf(event.target.value) })}
                />
              )}
            </Field>
            <Field label={words.temperature} optional={text.states.optional}>
              {(control) => (
                <Input
                  {...control}
                  type="number"
                  min={0}
                  max={2}
                  step={0.1}
                  value={settings.temperature ?? ''}
                  onChange={(event) => set({ temperature: numberOf(event.target.value) })}
                />
              )}
            </Field>
            <div className="flex items-center justify-between gap-3">
              <span className="text-[13px] font-medium">{words.stream}</span>
              <Switch checked={settings.stream} label={words.stream} onChange={(stream) => set({ stream })} />
            </div>
          </>
        )}
      </div>
    </Panel>
  );
}
