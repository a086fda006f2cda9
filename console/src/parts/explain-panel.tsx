import type { CandidateVerdict, EditedLane, RoutingExplain, RoutingExplanation } from '@relay/contract';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { formatCount, formatDuration, formatMoney } from '../format/numbers.ts';
import { isObject } from '../format/values.ts';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Choice, optionsOf } from '../ui/choice.tsx';
import { classes } from '../ui/class-names.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, TextArea } from '../ui/field.tsx';
import { Panel } from '../ui/page.tsx';
import { passageWords } from './passage-words.ts';
import { SetPriceButton } from './set-price-button.tsx';

const words = text.lanes.explain;
type Operation = RoutingExplain['operation'];

export const verdictTones: Record<CandidateVerdict['verdict'], Tone> = {
  selected: 'good',
  available: 'neutral',
  would_wait: 'wait',
  limited: 'warn',
  unhealthy: 'bad',
  incompatible: 'neutral',
  unpriced: 'bad',
  unbounded: 'bad',
  disabled: 'neutral',
};

interface ExplainPanelProps {
  readonly title?: string;
  /** What the result covers. */
  readonly hint: string;
  /** Explains the routing as if this unsaved edit were saved. */
  readonly editedLane?: EditedLane | undefined;
  /** The requested lane or model. */
  readonly model: string;
  readonly operation?: Operation;
  readonly endpointNameOf: (id: string) => string;
}

/** Explains how Relay would route a request now. */
export function ExplainPanel(props: ExplainPanelProps) {
  const { model, editedLane, endpointNameOf } = props;
  const edit = editedLane === undefined ? {} : { edited_lane: editedLane };
  const api = useApi();
  const { can } = useAccess();
  const [operation, setOperation] = useState<Operation>(props.operation ?? 'chat');
  const [body, setBody] = useState(() => exampleOf(operation, model));
  const [isJson, setIsJson] = useState(true);
  const explain = useMutation({
    mutationFn: (request: RoutingExplain) => take(api.POST('/api/relay/routing/explain', { body: request })),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const parsed = parseObject(body);
    setIsJson(parsed !== null);
    if (parsed !== null) explain.mutate({ operation, body: parsed, ...edit });
  };
  if (!can('explainRouting')) return null;
  return (
    <Panel title={props.title ?? words.title}>
      <form onSubmit={submit} className="space-y-4 p-4">
        <p className="text-xs text-ink-faint">{props.hint}</p>
        <Field label={words.operation}>
          {(control) => (
            <Choice
              {...control}
              value={operation}
              options={optionsOf(words.operations)}
              onChange={(next) => {
                setOperation(next);
                setBody(exampleOf(next, model));
              }}
            />
          )}
        </Field>
        <Field label={words.body} error={isJson ? undefined : words.invalidJson}>
          {(control) => (
            <TextArea
              {...control}
              rows={8}
              spellCheck={false}
              className="font-mono text-xs"
              value={body}
              onChange={(event) => setBody(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" busy={explain.isPending}>
          {words.run}
        </Button>
        <ErrorNote error={explain.error} />
        {explain.data === undefined || isSame(explain.variables?.edited_lane, editedLane) ? null : (
          <p className="border-l-[3px] border-warn pl-3 text-warn">{words.outdated}</p>
        )}
        {explain.data === undefined ? null : (
          <Explanation
            explanation={explain.data}
            operation={explain.variables?.operation ?? operation}
            endpointNameOf={endpointNameOf}
            onPriced={() => explain.mutate(explain.variables)}
          />
        )}
      </form>
    </Panel>
  );
}

function Explanation({ explanation, operation, endpointNameOf, onPriced }: ExplanationProps) {
  const { outcome, reason, candidates } = explanation;
  const name = endpointNameOf(explanation.selected_endpoint_id ?? '');
  const sentence =
    outcome === 'dispatch'
      ? words.outcomes.dispatch(name)
      : outcome === 'wait'
        ? words.outcomes.wait(name, formatDuration(explanation.wait_ms ?? 0))
        : words.outcomes.refuse;
  return (
    <div role="status" className="space-y-3 border-t pt-4">
      <div>
        <p
          className={classes(
            'font-medium',
            outcome === 'dispatch' ? 'text-good' : outcome === 'wait' ? 'text-wait-ink' : 'text-bad',
          )}
        >
          {sentence}
        </p>
        {reason === null ? null : <p className="text-[13px] text-ink-soft">{reason}</p>}
        <p className="text-xs text-ink-faint">
          {words.tokens(
            formatCount(explanation.estimated_input_tokens),
            formatCount(explanation.estimated_output_tokens),
          )}
        </p>
        {explanation.guardrails.length === 0 ? null : (
          <p className="text-xs text-ink-faint">{words.guardrails(explanation.guardrails.length)}</p>
        )}
      </div>
      <ol className="divide-y rounded-lg border">
        {candidates.map((candidate) => (
          <li key={candidate.endpoint_id} className="px-3 py-2.5 text-[13px]">
            <div className="flex items-center justify-between gap-3">
              <span className="truncate font-medium">{candidate.endpoint_name}</span>
              <Badge tone={verdictTones[candidate.verdict]}>{words.candidate[candidate.verdict]}</Badge>
            </div>
            <p className="text-xs text-ink-soft first-letter:uppercase">{candidate.reason}</p>
            {candidate.verdict === 'incompatible' ? null : (
              <p className="text-xs break-words text-ink-soft">{passageWords(operation, candidate)}</p>
            )}
            <p className="text-xs text-ink-faint">
              {[
                candidate.wait_ms === null || candidate.wait_ms === 0
                  ? null
                  : words.waits(formatDuration(candidate.wait_ms)),
                candidate.estimated_cost_micros === null
                  ? words.noPrice
                  : words.costs(formatMoney(candidate.estimated_cost_micros)),
                ...reservedWords(candidate),
              ]
                .filter((part) => part !== null)
                .join(' · ')}
            </p>
            {candidate.verdict === 'unpriced' ? (
              <div className="mt-2">
                <SetPriceButton endpointId={candidate.endpoint_id} onClose={onPriced} />
              </div>
            ) : null}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** What hard limits would reserve, and the output cap that Relay would write. */
function reservedWords({ reserved }: CandidateVerdict): readonly string[] {
  if (reserved === null) return [];
  const { input_tokens, output_tokens, cost_micros, output_cap } = reserved;
  const tokens = formatCount(input_tokens + output_tokens);
  return [
    words.reserves(tokens, cost_micros === null ? null : formatMoney(cost_micros)),
    ...(output_cap === null ? [] : [words.outputCap(formatCount(output_cap))]),
  ];
}

interface ExplanationProps {
  readonly explanation: RoutingExplanation;
  /** What the client would ask for. */
  readonly operation: Operation;
  readonly endpointNameOf: (id: string) => string;
  readonly onPriced: () => void;
}

function isSame(asked: EditedLane | undefined, current: EditedLane | undefined): boolean {
  return JSON.stringify(asked) === JSON.stringify(current);
}

function exampleOf(operation: Operation, model: string): string {
  const messages = [{ role: 'user', content: 'Hello' }];
  const rest =
    operation === 'chat'
      ? { messages }
      : operation === 'messages' || operation === 'count_tokens'
        ? { max_tokens: 1024, messages }
        : { input: 'Hello' };
  return JSON.stringify({ model, ...rest }, null, 2);
}

function parseObject(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
