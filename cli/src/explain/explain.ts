import type { components } from '@relay/contract/api-types';
import { operations } from '@relay/contract/words';
import { Command, Option, type OptionValues } from 'commander';
import { connect, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { readObject } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, milliseconds, plain } from '../output/cells.ts';
import { formatOf, withOutput } from '../output/options.ts';
import { printObject, tableStyle } from '../output/print.ts';
import { paintTone, renderFields, renderTable, type Tone } from '../output/table.ts';
import { withConnection } from '../session/connection.ts';

type Explanation = components['schemas']['RoutingExplanation'];
type Operation = Explanation['operation'];

export function explainCommand(surroundings: Surroundings): Command {
  const command = new Command('explain')
    .description(
      'Say what would happen to a request now: every candidate and its verdict. Nothing is sent to a provider.',
    )
    .argument('<lane>', 'a lane or a model, as a client would name it')
    .option('-f, --file <path>', 'the inference body as JSON or YAML, - for standard input')
    .addOption(new Option('--operation <kind>', 'what is asked for').choices(operations).default('chat'));
  return withOutput(withConnection(command)).action((lane: string, options: OptionValues) =>
    explainLane(surroundings, lane, options),
  );
}

export async function explainLane(
  surroundings: Surroundings,
  lane: string,
  options: OptionValues,
): Promise<void> {
  const operation: Operation = options['operation'] ?? 'chat';
  const given =
    options['file'] === undefined ? smallBody(operation) : await readObject(surroundings, options['file']);
  const api = await connect(surroundings, options);
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
    ? 'run `relay lanes list` and `relay endpoints list` to see what can be called'
    : isLimited
      ? `it could be admitted in ${milliseconds(retry_after_ms)}; run \`relay limits usage\` to see what is used`
      : `run \`relay lanes members list ${plain(model)}\` to see which endpoints it has`;
  return new ProgramError(`It would be refused with ${error_code}: ${reason}`, exitCode, { fix });
}

const tones: Readonly<Record<string, Tone>> = {
  selected: 'good',
  would_wait: 'warn',
  limited: 'warn',
  unhealthy: 'bad',
  incompatible: 'quiet',
  unpriced: 'bad',
  disabled: 'quiet',
};

function printExplanation(surroundings: Surroundings, explanation: Explanation): void {
  const style = tableStyle(surroundings);
  const { stdout } = surroundings;
  stdout.write(
    renderFields(
      [
        ['model', `${explanation.model} (${explanation.resolved_as.replace('_', ' ')})`],
        ['outcome', explanation.outcome],
        ['wait', milliseconds(explanation.wait_ms)],
        ['wait budget', milliseconds(explanation.wait_budget_ms)],
        [
          'estimate',
          `${explanation.estimated_input_tokens} tokens in, ${explanation.estimated_output_tokens} out`,
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
        { title: 'verdict', value: verdictWord, tone: ({ verdict }) => tones[verdict] ?? null },
        { title: 'wait', value: ({ wait_ms }) => milliseconds(wait_ms), align: 'right' },
        {
          title: 'cost',
          value: ({ estimated_cost_micros }) => dollars(estimated_cost_micros),
          align: 'right',
        },
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

type Candidate = Explanation['candidates'][number];

function isSkipped({ verdict }: Candidate): boolean {
  return verdict === 'unhealthy';
}

function verdictWord(candidate: Candidate): string {
  return isSkipped(candidate) ? 'skipped' : candidate.verdict;
}
