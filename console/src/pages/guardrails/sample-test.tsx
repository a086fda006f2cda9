import type { Guardrail, GuardrailTest, GuardrailTestResult } from '@relay/contract';
import { type FormEvent, type ReactNode, useState } from 'react';
import { take } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { formatDuration } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { classes } from '../../ui/class-names.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { DetailList } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field, TextArea } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { conditionOf } from './guardrail-words.ts';

const words = text.guardrails.test;

type Stage = NonNullable<GuardrailTest['stage']>;

/** Checks a sample text and explains the verdict. */
export function SampleTest({ guardrail }: { readonly guardrail: Guardrail }) {
  const { pre_dispatch_enabled: before, post_response_enabled: after } = guardrail;
  const [sample, setSample] = useState('');
  const [stage, setStage] = useState<Stage>(after && !before ? 'post_response' : 'pre_dispatch');
  const test = useChange({
    run: (api) =>
      take(
        api.POST('/api/relay/guardrails/{guardrail_id}/test', {
          params: { path: { guardrail_id: guardrail.id } },
          body: { text: sample, stage },
        }),
      ),
    stale: [],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test.mutate(undefined);
  };
  return (
    <Panel title={words.title}>
      <form onSubmit={submit} className="space-y-4 p-4">
        <Field label={words.sample} hint={words.hint}>
          {(control) => (
            <TextArea
              {...control}
              rows={3}
              required
              maxLength={100_000}
              placeholder={words.placeholder}
              value={sample}
              onChange={(event) => setSample(event.target.value)}
            />
          )}
        </Field>
        <div className="flex items-end gap-3">
          <div className="flex-1">
            <Field label={words.stage}>
              {(control) => (
                <Choice {...control} value={stage} options={optionsOf(words.stages)} onChange={setStage} />
              )}
            </Field>
          </div>
          <Button type="submit" busy={test.isPending} disabled={sample.trim() === ''}>
            {test.isPending ? words.running : words.run}
          </Button>
        </div>
        <ErrorNote error={test.error} />
        {test.data === undefined ? null : <Result result={test.data} />}
      </form>
    </Panel>
  );
}

const TONES: Record<GuardrailTestResult['verdict'], string> = {
  allowed: 'bg-good-wash text-good',
  flagged: 'bg-warn-wash text-warn',
  replaced: 'bg-hover text-ink',
  blocked: 'bg-bad-wash text-bad',
  unavailable: 'bg-bad-wash text-bad',
};

function Result({ result }: { readonly result: GuardrailTestResult }) {
  const { received, matched_rule: rule } = result;
  return (
    <div role="status" className="overflow-hidden rounded-lg border">
      <div className={classes('px-3.5 py-2.5 text-[13px]', TONES[result.verdict])}>
        <p className="font-semibold">{text.guardrails.verdicts[result.verdict]}</p>
        <p className="mt-0.5 break-words">{result.message}</p>
      </div>
      <div className="px-3.5 py-3">
        <DetailList
          rows={[
            [words.time, formatDuration(result.latency_ms)],
            [words.status, received === null ? words.noAnswer : String(received.status)],
            [
              words.rule,
              rule === null ? (
                <span key="rule" className="text-ink-faint">
                  {words.noRule}
                </span>
              ) : (
                <code key="rule" className="font-mono text-xs break-words">
                  {conditionOf(rule)}
                </code>
              ),
            ],
            ...(rule?.replacement === undefined || rule.action !== 'replace'
              ? []
              : ([[words.replaced, `“${rule.replacement}”`]] as const)),
          ]}
        />
      </div>
      <Unfolding title={words.sent}>
        <CodeBlock
          label={words.sent}
          code={JSON.stringify(result.sent, null, 2)}
          copyLabel={words.copySent}
        />
      </Unfolding>
      {received === null ? null : (
        <Unfolding title={words.received}>
          <CodeBlock label={words.received} code={tidy(received.body)} copyLabel={words.copyReceived} />
          {received.truncated ? <p className="mt-1.5 text-xs text-ink-faint">{words.truncated}</p> : null}
        </Unfolding>
      )}
    </div>
  );
}

function Unfolding({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <details className="border-t px-3.5 py-2 text-[13px]">
      <summary className="cursor-pointer text-ink-soft hover:text-ink">{title}</summary>
      <div className="pt-2 pb-1">{children}</div>
    </details>
  );
}

/** Indents JSON; returns other text unchanged. */
function tidy(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
