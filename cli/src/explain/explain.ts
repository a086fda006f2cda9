import type { components } from '@relay/contract/api-types';
import { operations } from '@relay/contract/words';
import { Command, Option, type OptionValues } from 'commander';
import { connect, dataOf } from '../api/client.ts';
import { laneName } from '../api/lane-name.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { readObject } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, milliseconds, numberText, plain } from '../output/cells.ts';
import { formatOf, withOutput } from '../output/options.ts';
import { printObject, tableStyle } from '../output/print.ts';
import { type Column, paintTone, renderFields, renderTable, type Tone } from '../output/table.ts';
import { verdictWord } from '../output/verdict-word.ts';
import { withConnection } from '../session/connection.ts';

type Explanation = components['schemas']['RoutingExplanation'];
type Operation = Explanation['operation'];

export function explainCommand(surroundings: Surroundings): Command {
  const command = new Command('explain')
    .description(
      'Explain routing: show each candidate, wait and cost of a request sent now, without calling a provider',
    )
    .argument('[lane]', 'lane or model (default: the only lane)')
    .option('-f, --file <path>', 'inference request body as JSON or YAML, - for standard input')
    .addOption(new Option('--operation <kind>', 'operation').choices(operations).default('chat'));
  return withOutput(withConnection(command)).action((lane: string | undefined, options: OptionValues) =>
    explainLane(surroundings, lane, options),
  );
}

export async function explainLane(
  surroundings: Surroundings,
  typed: string | undefined,
  options: OptionValues,
): Promise<void> {
  const operation: Operation = options['operation'] ?? 'chat';
  const given =
    options['file'] === undefined ? smallBody(operation) : await readObject(surroundings, options['file']);
  const api = await connect(surroundings, options);
  const lane = await laneName(api, typed);
  const explanation = await dataOf(
    api.management.POST('/api/relay/routing/explain', {
      body: { operation, body: { ...given, model: lane } },
    }),
  );
  if (formatOf(surroundings, options) === 'table') printExplanation(surroundings, explanation);
  else await printObject(surroundings, options, explanation);
  if (explanation.outcome === 'refuse') throw refusal(explanation);
}

function smallBody(operation: Operation): Record<string, unknown> {
  const messages = [{ role: 'user', content: 'Hello' }];
  if (operation === 'messages') return { max_tokens: 1024, messages };
  return operation === 'chat' || operation === 'count_tokens' ? { messages } : { input: 'Hello' };
}

function refusal({ model, error_code, reason, retry_after_ms }: Explanation): ProgramError {
  const isUnknown = error_code === 'model_not_found';
  const isLimited = retry_after_ms !== null;
  const exitCode = isUnknown ? exitCodes.notFound : isLimited ? exitCodes.rateLimited : exitCodes.error;
  const fix = isUnknown
    ? 'Use a lane or an upstream model; `relay endpoints list` lists the upstream models. Run: `relay lanes list`'
    : isLimited
      ? `Retry in ${milliseconds(retry_after_ms)}. To see the limits, run: \`relay limits usage\``
      : `Check its endpoints. Run: \`relay lanes endpoints list ${plain(model)}\``;
  return new ProgramError(`Would be rejected: ${error_code}. ${reason}`, exitCode, { fix });
}

const tones: Readonly<Record<string, Tone>> = {
  selected: 'good',
  would_wait: 'warn',
  limited: 'warn',
  unhealthy: 'bad',
  incompatible: 'quiet',
  unpriced: 'bad',
  unbounded: 'bad',
  disabled: 'quiet',
};

function printExplanation(surroundings: Surroundings, explanation: Explanation): void {
  const style = tableStyle(surroundings);
  const { stdout } = surroundings;
  stdout.write(
    renderFields(
      [
        ['model', `${explanation.model} (${explanation.resolved_as.replace('_', ' ')})`],
        ['outcome', explanation.outcome === 'refuse' ? 'reject' : explanation.outcome],
        ['wait', milliseconds(explanation.wait_ms)],
        ['wait budget', milliseconds(explanation.wait_budget_ms)],
        [
          'estimate',
          `${numberText(explanation.estimated_input_tokens)} input · ${numberText(explanation.estimated_output_tokens)} output tokens`,
        ],
        ['guardrails', explanation.guardrail_ids.length],
      ],
      style,
    ),
  );
  if (explanation.candidates.length === 0) return;
  stdout.write('\n');
  stdout.write(
    renderTable(
      explanation.candidates,
      [
        { title: 'rank', value: ({ rank }) => rank, align: 'right' },
        { title: 'endpoint', value: ({ endpoint_name }) => endpoint_name, elastic: true },
        { title: 'result', value: verdictWord, tone: ({ verdict }) => tones[verdict] ?? null },
        { title: 'wait', value: ({ wait_ms }) => milliseconds(wait_ms), align: 'right' },
        {
          title: 'cost',
          value: ({ estimated_cost_micros }) => dollars(estimated_cost_micros),
          align: 'right',
        },
        ...reservedColumns(explanation),
        { title: 'reason', value: ({ reason }) => reason, elastic: true },
      ],
      style,
    ),
  );
  // A terminal may shorten the reason in the table, and this one is what people look for.
  const cut = style.columns === undefined ? [] : explanation.candidates.filter(isSkipped);
  for (const { endpoint_name, reason } of cut) {
    stdout.write(`${paintTone(plain(`${endpoint_name}: ${reason}`), 'bad', style.stream)}\n`);
  }
}

/** Only where a hard limit applies. */
function reservedColumns({ candidates }: Explanation): readonly Column<Candidate>[] {
  if (candidates.every(({ reserved }) => reserved === null)) return [];
  return [
    {
      title: 'reserved',
      value: ({ reserved }) => reservedWords(reserved),
      align: 'right',
    },
    { title: 'output cap', value: ({ reserved }) => numberText(reserved?.output_cap), align: 'right' },
  ];
}

function reservedWords(reserved: Candidate['reserved']): string | null {
  if (reserved === null) return null;
  const { input_tokens, output_tokens, cost_micros } = reserved;
  const tokens = `${numberText(input_tokens + output_tokens)} tokens`;
  return cost_micros === null ? tokens : `${tokens}, ${dollars(cost_micros)}`;
}

type Candidate = Explanation['candidates'][number];

function isSkipped({ verdict }: Candidate): boolean {
  return verdict === 'unhealthy';
}
