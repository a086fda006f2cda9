import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { components } from '@relay/contract/api-types';
import { entriesFor, readPriceList } from '@relay/contract/price-list';
import { type Api, connect, dataOf } from '../api/client.ts';
import { exitCodes, Outcome, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import { parseJson, readInput } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count } from '../output/cells.ts';
import { formatOf, type OutputOptions } from '../output/options.ts';
import { machineText } from '../output/print.ts';
import type { ConnectionOptions } from '../session/connection.ts';
import { planText } from './plan-text.ts';

type Plan = components['schemas']['PricePlan'];
type Row = components['schemas']['PricePlanRow'];
type List = components['schemas']['PricePlanRequest'];

export interface ImportFlags extends OutputOptions, ConnectionOptions {
  readonly catalog?: true;
  readonly accept?: readonly string[];
  readonly asOf?: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** Sets exactly the prices of the plan that is shown. The server rejects them if anything has changed since. */
export async function importPrices(
  surroundings: Surroundings,
  file: string | undefined,
  flags: ImportFlags,
): Promise<void> {
  if ((file === undefined) === (flags.catalog === undefined))
    throw usageError('Name one price list: a file, or --catalog.');
  if (flags.dryRun !== true && flags.yes !== true && !canAsk(surroundings))
    throw usageError('Setting prices requires confirmation.', 'Add --yes, or --dry-run to see the plan.');
  const list = file === undefined ? null : await readList(surroundings, file, flags.asOf);
  const api = await connect(surroundings, flags);
  const body: List = list === null ? { source: 'catalog' } : await reduced(api, list);
  const plan = await dataOf(api.management.POST('/api/relay/prices/plan', { body }));
  const accepted = acceptedRows(plan, flags.accept ?? []);
  const format = formatOf(surroundings, flags);
  const { stdout, stderr } = surroundings;
  const show = (shown: string) => (format === 'table' ? stdout : stderr).write(shown);
  show(planText(plan, accepted));
  const toSet = plan.rows.filter((row) => isSet(row, accepted));
  if (flags.dryRun === true) {
    if (format !== 'table') stdout.write(await machineText(format, plan));
    throw new Outcome(toSet.length > 0 ? exitCodes.differs : exitCodes.ok);
  }
  if (toSet.length > 0 && flags.yes !== true) {
    if (!(await confirm(surroundings, `Set these prices at ${api.connection.server}?`)))
      throw new ProgramError('No prices set.', exitCodes.error);
  }
  const accept = accepted.map(({ endpoint_id }) => endpoint_id);
  const approved = { ...body, plan_hash: plan.plan_hash, accept };
  const done = await dataOf(api.management.POST('/api/relay/prices/apply', { body: approved }));
  if (format === 'table') stdout.write(`Set ${count(done.applied.length, 'price')}.\n`);
  else stdout.write(await machineText(format, { ...plan, ...done }));
}

function isSet(row: Row, accepted: readonly Row[]): boolean {
  const isPlanned = (row.action === 'add' || row.action === 'change') && !row.managed_by_file;
  return isPlanned && (row.held_back === null || accepted.includes(row));
}

async function readList(surroundings: Surroundings, file: string, asOf: string | undefined) {
  const name = file === '-' ? 'standard input' : file;
  const list = readPriceList(parseJson(await readInput(surroundings, file), name));
  if (list === null)
    throw new ProgramError(`${name} is not a known price list.`, exitCodes.usage, {
      fix: 'Name LiteLLM’s model_prices_and_context_window.json or models.dev’s api.json.',
    });
  return { ...list, as_of: await dateOf(surroundings, file, asOf) };
}

async function dateOf(surroundings: Surroundings, file: string, asOf: string | undefined): Promise<string> {
  if (asOf !== undefined) {
    const date = new Date(asOf);
    if (Number.isNaN(date.getTime()))
      throw usageError(`--as-of ${asOf} is not a date.`, 'Use the format 2026-11-17.');
    return date.toISOString();
  }
  const writtenMs =
    file === '-' ? surroundings.nowMs() : (await stat(resolve(surroundings.cwd, file))).mtimeMs;
  return new Date(Math.floor(writtenMs)).toISOString();
}

/** Whole lists are larger than a request may be; only models of endpoints are sent. */
async function reduced(api: Api, list: Awaited<ReturnType<typeof readList>>): Promise<List> {
  const endpoints = await dataOf(api.management.GET('/api/relay/endpoints'));
  const entries = entriesFor(
    list,
    endpoints.map(({ upstream_model }) => upstream_model),
  );
  return { source: list.source, as_of: list.as_of, entries };
}

function acceptedRows({ rows }: Plan, accept: readonly string[]): Row[] {
  return accept.flatMap((name) => {
    const found = rows.filter(
      ({ upstream_model, endpoint_name, held_back }) =>
        held_back !== null && (upstream_model === name || endpoint_name === name),
    );
    if (found.length > 0) return found;
    throw usageError(
      `No price is held back for ${name}.`,
      'Name a model or an endpoint that the plan shows as held back.',
    );
  });
}
