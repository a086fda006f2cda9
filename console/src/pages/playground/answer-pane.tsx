import type { ModelChoices } from '../../parts/model-choices.ts';
import { text } from '../../text/index.ts';
import { Field, Select } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { FactsList } from './facts-list.tsx';
import { RefusalCard } from './refusal-card.tsx';
import type { Run } from './use-run.ts';

const words = text.playground;

interface AnswerPaneProps {
  readonly run: Run;
  readonly model: string;
  readonly choices: ModelChoices;
  readonly onModel: (model: string) => void;
  readonly onRetry: () => void;
}

/** One conversation: model, messages and what Relay decided. */
export function AnswerPane({ run, model, choices, onModel, onRetry }: AnswerPaneProps) {
  return (
    <Panel className="flex min-h-[26rem] min-w-0 flex-col overflow-hidden">
      <div className="max-w-md px-4 py-3">
        <Field label={words.model}>
          {(control) => (
            <Select {...control} value={model} onChange={(event) => onModel(event.target.value)}>
              <Group label={words.lanes} values={choices.lanes} />
              <Group label={words.models} values={choices.models} />
            </Select>
          )}
        </Field>
      </div>
      <div className="flex-1 space-y-4 overflow-y-auto px-4 py-4">
        {run.turns.length === 0 ? <p className="text-[13px] text-ink-faint">{words.empty}</p> : null}
        {run.turns.map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows at its end
          <Said key={index} who={turn.role === 'user' ? words.you : words.answer} what={turn.content} />
        ))}
        <div aria-live="polite" aria-busy={run.state === 'running'}>
          <Answer run={run} />
        </div>
        {run.error === null ? null : <RefusalCard error={run.error} onRetry={onRetry} />}
        {run.state === 'stopped' ? <p className="text-xs text-ink-faint">{words.stopped}</p> : null}
      </div>
      {run.state === 'idle' || run.facts.requestId === undefined ? null : (
        <FactsList facts={run.facts} isOver={run.state !== 'running'} />
      )}
    </Panel>
  );
}

function Answer({ run }: { readonly run: Run }) {
  if (run.vectors.length > 0) {
    const [first = []] = run.vectors;
    return (
      <div className="text-[13px]">
        <p className="font-medium">{words.embedding(run.vectors.length, first.length)}</p>
        <p className="mt-1 font-mono text-xs break-all text-ink-soft">
          [{first.slice(0, 24).join(', ')}
          {first.length > 24 ? ', …' : ''}]
        </p>
      </div>
    );
  }
  if (run.answer !== '') return <Said who={words.answer} what={run.answer} />;
  return run.state === 'running' ? <p className="text-[13px] text-ink-faint">{words.thinking}</p> : null;
}

function Said({ who, what }: { readonly who: string; readonly what: string }) {
  return (
    <div>
      <p className="text-xs font-medium text-ink-faint">{who}</p>
      <p className="mt-0.5 break-words whitespace-pre-wrap">{what}</p>
    </div>
  );
}

function Group({ label, values }: { readonly label: string; readonly values: readonly string[] }) {
  if (values.length === 0) return null;
  return (
    <optgroup label={label}>
      {values.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </optgroup>
  );
}
