import type { components } from '@relay/contract/api-types';
import { Command } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { exitCodes, Outcome, ProgramError, usageError } from '../kit/program-error.ts';
import { readInput } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count } from '../output/cells.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/options.ts';
import { machineText, printList } from '../output/print.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';
import { type ComparedDay, compare } from './compare.ts';
import { columns, differencesText } from './differences-text.ts';
import { DAY_MS, HOUR_MS, type ProviderExport } from './export-record.ts';
import { readExport } from './read-export.ts';
import type { Metered } from './relay-side.ts';

type Provider = components['schemas']['Provider'];

interface ReconcileFlags extends OutputOptions, ConnectionOptions {
  readonly provider?: string;
  readonly json?: true;
}

const ALL_USAGE = 'relay:usage:read:organization';
const HOSTS = { openai: 'api.openai.com', anthropic: 'api.anthropic.com' } as const;

export function reconcileCommand(surroundings: Surroundings): Command {
  const command = new Command('reconcile')
    .description(
      'Compare the ledger with a provider’s usage and cost exports, by day and model; exits 1 when they differ. Shows the price or the missing requests behind each difference',
    )
    .argument(
      '<file...>',
      'responses from OpenAI’s usage and costs API or Anthropic’s usage and cost report, or the CSV from their consoles; - for standard input',
    )
    .option('--provider <provider>', 'provider of the files: name, slug or ID (default: by preset or host)')
    .option('--json', 'same as --output json');
  return withOutput(withConnection(command)).action((files: string[], flags: ReconcileFlags) =>
    reconcile(surroundings, files, flags),
  );
}

async function reconcile(surroundings: Surroundings, files: readonly string[], flags: ReconcileFlags) {
  const exports: ProviderExport[] = [];
  for (const file of files) exports.push(readExport(await readInput(surroundings, file), nameOf(file)));
  const [format, ...others] = new Set(exports.map((each) => each.format));
  if (format === undefined || others.length > 0)
    throw usageError('The files are from several providers.', 'Compare one provider at a time.');
  const api = await connect(surroundings, flags);
  demandAllUsage((await dataOf(api.management.GET('/api/relay/capabilities'))).scopes);
  const providers = await providersOf(api, format, flags.provider);
  const metered = (await readMetered(api, exports)).filter(
    ({ provider_id }) => provider_id !== null && providers.has(provider_id),
  );
  const endpoints = await dataOf(api.management.GET('/api/relay/endpoints'));
  const policies = await dataOf(api.management.GET('/api/relay/pricing-policies'));
  const days = compare({ exports, metered, endpoints, policies });
  await print(surroundings, flags, exports, days);
  if (days.some(({ equal }) => !equal)) throw new Outcome(exitCodes.error);
}

/** With less, Relay answers with the caller's own usage, and everything else would be called missing. */
export function demandAllUsage(scopes: readonly string[]): void {
  if (scopes.includes(ALL_USAGE)) return;
  throw new ProgramError('This key can read only its own usage; a bill covers all usage.', exitCodes.auth, {
    fix: `Use a key with the scope ${ALL_USAGE}, or the admin token.`,
  });
}

async function print(
  surroundings: Surroundings,
  flags: ReconcileFlags,
  exports: readonly ProviderExport[],
  days: readonly ComparedDay[],
): Promise<void> {
  const options: OutputOptions = flags.json === true ? { output: 'json' } : flags;
  const { stdout, stderr } = surroundings;
  if (exports.some(({ isPartial }) => isPartial))
    stderr.write('The export has more pages (has_more). Fetch all, and put them in one JSON array.\n');
  const left = exports.reduce((sum, { otherCosts }) => sum + otherCosts, 0);
  if (left > 0)
    stderr.write(`Skipped ${count(left, 'cost')} that named no model or had nothing to do with tokens.\n`);
  const format = formatOf(surroundings, options);
  if (format !== 'table') {
    stdout.write(
      await machineText(format, format === 'json' || format === 'yaml' ? { days, ...summaryOf(days) } : days),
    );
    return;
  }
  await printList(surroundings, options, days, { columns, empty: 'No usage in the export or in Relay.' });
  stdout.write(differencesText(days));
  const { differences } = summaryOf(days);
  stderr.write(
    differences === 0
      ? `No differences in ${count(days.length, 'row')}.\n`
      : `${differences} of ${count(days.length, 'row')} ${differences === 1 ? 'differs' : 'differ'}.\n`,
  );
}

function summaryOf(days: readonly ComparedDay[]) {
  const sum = (of: (day: ComparedDay) => number) => days.reduce((total, day) => total + of(day), 0);
  return {
    differences: days.filter(({ equal }) => !equal).length,
    missing_in_relay_requests: sum(({ missing_in_relay }) =>
      missing_in_relay.reduce((total, { requests }) => total + (requests ?? 0), 0),
    ),
    missing_at_provider_requests: sum(({ missing_at_provider }) =>
      missing_at_provider.reduce((total, { requests }) => total + (requests ?? 0), 0),
    ),
  };
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

async function providersOf(
  api: Api,
  format: ProviderExport['format'],
  named: string | undefined,
): Promise<ReadonlySet<string>> {
  const providers = await dataOf(api.management.GET('/api/relay/providers'));
  if (named !== undefined)
    return new Set([findOne(providers, named, { singular: 'provider', plural: 'providers' }).id]);
  const isIts = ({ preset_slug, base_url }: Provider) =>
    preset_slug === format || new URL(base_url).host === HOSTS[format];
  const found = providers.filter(isIts).map(({ id }) => id);
  if (found.length > 0) return new Set(found);
  throw usageError(
    `The files are ${format === 'openai' ? 'OpenAI’s' : 'Anthropic’s'}, and no provider has that preset or host.`,
    'Add --provider PROVIDER.',
  );
}

/** What Relay metered on the days of the files; by the hour where the usage is. */
async function readMetered(api: Api, exports: readonly ProviderExport[]): Promise<Metered[]> {
  const usage = exports.flatMap((each) => each.usage);
  const times = [...usage, ...exports.flatMap((each) => each.costs)].map(({ atMs }) => atMs);
  if (times.length === 0) return [];
  const isHourly = usage.length > 0 && usage.every(({ spanMs }) => spanMs <= HOUR_MS);
  const from = Math.floor(times.reduce((a, b) => Math.min(a, b)) / DAY_MS) * DAY_MS;
  const to = (Math.floor(times.reduce((a, b) => Math.max(a, b)) / DAY_MS) + 1) * DAY_MS;
  const query = {
    bucket: isHourly ? ('hour' as const) : ('day' as const),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  };
  return (await dataOf(api.management.GET('/api/relay/stats/metered', { params: { query } }))).rows;
}
