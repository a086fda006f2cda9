import type { RequestDetail } from '@relay/contract';
import { formatDuration } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { nameIn } from './use-request-names.ts';

const words = text.requests.detail.guardrails;
type Verdict = RequestDetail['guardrails'][number];

const TONES: Record<Verdict['verdict'], Tone> = {
  allowed: 'good',
  flagged: 'warn',
  replaced: 'warn',
  blocked: 'bad',
  unavailable: 'bad',
};

interface GuardrailsPanelProps {
  readonly verdicts: readonly Verdict[];
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** The guardrail verdicts on the request and its response. */
export function GuardrailsPanel({ verdicts, names }: GuardrailsPanelProps) {
  return (
    <Panel title={words.title}>
      {verdicts.length === 0 ? (
        <p className="px-4 py-3 text-[13px] text-ink-soft">{words.none}</p>
      ) : (
        <ul className="divide-y">
          {verdicts.map((each) => (
            <li key={`${each.guardrail_id} ${each.stage}`} className="flex items-start gap-3 px-4 py-2.5">
              <div className="min-w-0 flex-1 text-[13px]">
                <p className="truncate font-medium">{nameIn(names, each.guardrail_id)}</p>
                <p className="text-xs text-ink-soft">{sentenceOf(each)}</p>
              </div>
              <span className="text-xs text-ink-faint tabular-nums">{formatDuration(each.latency_ms)}</span>
              <Badge tone={TONES[each.verdict]}>{words.verdicts[each.verdict]}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function sentenceOf({ stage, cause, skipped_parts: skipped }: Verdict): string {
  const first = [words.stages[stage], cause === null ? null : words.causes[cause]]
    .filter((part) => part !== null)
    .join(': ');
  return skipped === null ? first : `${first}. ${words.skipped(skipped)}`;
}
