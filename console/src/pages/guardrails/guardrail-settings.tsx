import type { Guardrail, ResponseRule } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { guardrailPresetsQuery } from '../../api/guardrail-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatBytes, formatCount, formatDuration } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DetailList } from '../../ui/detail-list.tsx';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { conditionOf, phaseOf } from './guardrail-words.ts';

const words = text.guardrails.settings;
const ACTION_TONES: Record<ResponseRule['action'], Tone> = {
  allow: 'good',
  log: 'warn',
  block: 'bad',
  replace: 'note',
};

/** The settings of a guardrail. */
export function GuardrailSettings({ guardrail }: { readonly guardrail: Guardrail }) {
  const presets = useQuery(guardrailPresetsQuery(useApi()));
  const preset = presets.data?.find(({ slug }) => slug === guardrail.preset_slug);
  const template = guardrail.request_template ?? preset?.request_template;
  const rules = guardrail.response_rules ?? preset?.response_rules;
  const whose = (own: unknown) => (own === null ? words.ofPreset : words.own);
  return (
    <Panel title={words.title}>
      <div className="space-y-6 p-4">
        <DetailList rows={rowsOf(guardrail, preset?.name)} />
        <section>
          <h3 className="text-[13px] font-semibold">
            {words.rules} <Whose>{whose(guardrail.response_rules)}</Whose>
          </h3>
          <p className="mt-0.5 mb-2.5 text-xs text-ink-faint">{words.rulesHint}</p>
          {rules == null ? <Skeleton className="w-64" /> : <RuleList rules={rules} />}
        </section>
        <section>
          <h3 className="mb-2.5 text-[13px] font-semibold">
            {words.template} <Whose>{whose(guardrail.request_template)}</Whose>
          </h3>
          {template == null ? (
            <Skeleton className="w-64" />
          ) : (
            <CodeBlock
              label={words.template}
              code={JSON.stringify(template, null, 2)}
              copyLabel={words.copyTemplate}
            />
          )}
        </section>
      </div>
    </Panel>
  );
}

function Whose({ children }: { readonly children: string }) {
  return <span className="ml-1 text-xs font-normal text-ink-faint">{children}</span>;
}

function rowsOf(guardrail: Guardrail, presetName: string | undefined) {
  return [
    [
      words.address,
      <code key="url" className="font-mono text-xs break-all">
        {guardrail.http_method} {guardrail.base_url}
      </code>,
    ],
    [words.signIn, signInOf(guardrail)],
    [words.credential, <CredentialBadge key="credential" guardrail={guardrail} />],
    [words.asked, phaseOf(guardrail)],
    [words.failure, text.guardrails.failures[guardrail.failure_mode]],
    [words.timeout, formatDuration(guardrail.timeout_ms)],
    [words.priority, formatCount(guardrail.priority)],
    [words.preset, presetName ?? guardrail.preset_slug],
    [
      words.sizes,
      words.sizesValue(formatBytes(guardrail.max_request_bytes), formatBytes(guardrail.max_response_bytes)),
    ],
    [
      words.id,
      <span key="id" className="-my-0.5 flex items-center gap-1">
        <code className="min-w-0 truncate font-mono text-xs">{guardrail.id}</code>
        <CopyButton value={guardrail.id} label={words.copyId} />
      </span>,
    ],
  ] as const;
}

function signInOf({ auth_mode: mode, secret_header_name: header }: Guardrail): string {
  return mode === 'header_static' && header !== null ? `${header}: …` : text.guardrails.form.authModes[mode];
}

function CredentialBadge({ guardrail }: { readonly guardrail: Guardrail }) {
  if (guardrail.has_credential) return <Badge>{words.stored}</Badge>;
  if (guardrail.auth_mode === 'none') return <span className="text-ink-faint">{words.notNeeded}</span>;
  return <Badge tone="bad">{words.missing}</Badge>;
}

function RuleList({ rules }: { readonly rules: readonly ResponseRule[] }) {
  return (
    <ol className="divide-y rounded-lg border">
      {rules.map((rule, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rules have no name but their place
        <li key={index} className="flex items-start gap-3 px-3 py-2 text-[13px]">
          <span className="w-16 shrink-0">
            <Badge tone={ACTION_TONES[rule.action]}>{text.guardrails.actions[rule.action]}</Badge>
          </span>
          <span className="min-w-0">
            <code className="font-mono text-xs break-words">{conditionOf(rule)}</code>
            {rule.replacement === undefined ? null : (
              <span className="block text-xs break-words text-ink-faint">“{rule.replacement}”</span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
