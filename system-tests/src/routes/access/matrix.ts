import { allRoutes, type Route, type RouteId, routes } from '@relay/contract';
import type { Accounts } from '../../harness/accounts.ts';
import { type Sample, sampleOf } from '../../harness/examples.ts';
import { addObjects, type Objects } from '../../harness/objects.ts';
import type { Column, Entry } from './columns.ts';
import { expectedAnswer, type Mode } from './expected.ts';
import { type Answer, send } from './send.ts';

export interface WrongCell {
  readonly column: string;
  readonly route: string;
  readonly expected: string;
  readonly actual: string;
}

export interface MatrixResult {
  readonly cells: number;
  readonly wrong: readonly WrongCell[];
}

export interface MatrixSetup {
  readonly accounts: Accounts;
  /** Of the server that is asked. */
  readonly url: string;
  readonly mode: Mode;
  /** Where the requests of an organization go. */
  readonly upstreamOf: (organizationId: string) => string;
  /** Every object of every organization so far, and whose it is. */
  readonly ownerOf: Map<string, string>;
  /** Whether what-if replays for each caller; otherwise its body is refused once the caller is let in, which needs no thread. */
  readonly replays?: boolean;
}

const noReplay: Sample = { body: { config: { version: 1 }, days: 8 } };

const COLUMNS_AT_ONCE = 6;
const KNOWN_MS_MAX = 10_000;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const endsSession: readonly RouteId[] = ['deleteSession', 'leaveOrganization'];

/** Reads and changes first, then what deletes, the dependent before what it depends on. */
const routesInOrder: readonly Route[] = [
  ...allRoutes.filter(({ method }) => method !== 'DELETE'),
  ...allRoutes.filter(({ method, id }) => method === 'DELETE' && !endsSession.includes(id)).reverse(),
  ...allRoutes.filter(({ id }) => endsSession.includes(id)),
];

/** Sends every route for every column. Each column has its own organization, so that columns do not interfere. */
export async function runMatrix(setup: MatrixSetup, columns: readonly Column[]): Promise<MatrixResult> {
  const waiting = [...columns];
  const wrong: WrongCell[] = [];
  let cells = 0;
  const work = async () => {
    for (let column = waiting.shift(); column !== undefined; column = waiting.shift()) {
      const result = await runColumn(setup, column);
      wrong.push(...result.wrong);
      cells += result.cells;
    }
  };
  await Promise.all(Array.from({ length: COLUMNS_AT_ONCE }, work));
  return { cells, wrong };
}

async function runColumn(setup: MatrixSetup, column: Column): Promise<MatrixResult> {
  const entry = await column.enter(setup);
  const own = await furnish(setup, entry);
  const tried = routesInOrder.filter(column.routes ?? (() => true));
  const expectedOf = (route: Route) => {
    const granted = column.grantedFor?.(route) ?? column.granted;
    const expected = expectedAnswer(route, { ...column, granted }, setup.mode);
    return isSpared(route) && expected === '200' ? '400 invalid_request' : expected;
  };
  const isSpared = ({ id }: Route) => id === 'whatIf' && setup.replays !== true;
  const headersFor = entry.headersFor ?? (() => entry.headers);
  const { listModels } = routes;
  if (tried.includes(listModels) && expectedOf(listModels) === '200')
    await untilKnown(setup.url, headersFor(listModels), own);
  const named = column.foreign === true ? await furnishAnother(setup) : own;
  const wrong: WrongCell[] = [];
  for (const route of tried) {
    const expected = expectedOf(route);
    const sample = isSpared(route) ? noReplay : sampleOf[route.id](named);
    const sent = send(setup.url, route, sample, headersFor(route));
    const actual = await sent.then(
      (answer) => {
        const leaked = leakIn(setup.ownerOf, answer, entry);
        return leaked === undefined ? answer.summary : `${answer.summary}, showing ${leaked} of another`;
      },
      (error: unknown) => String(error),
    );
    if (actual !== expected) wrong.push({ column: column.name, route: route.id, expected, actual });
  }
  await removeDestinations(setup, own);
  return { cells: tried.length, wrong };
}

/** An organization may have only so many, and several columns share one. */
async function removeDestinations({ accounts }: MatrixSetup, own: Objects): Promise<void> {
  const { organizationId, alertDestinationId, spareAlertDestinationId } = own;
  await accounts.query(
    `delete from alert_destinations where organization_id = $1 and (id in ($2, $3) or name = 'Made')`,
    [organizationId, alertDestinationId, spareAlertDestinationId],
  );
}

/** A server that knows the organization reads it again shortly after the objects were added. */
async function untilKnown(url: string, headers: Entry['headers'], { laneSlug }: Objects): Promise<void> {
  const deadlineMs = performance.now() + KNOWN_MS_MAX;
  for (;;) {
    const { text } = await send(url, routes.listModels, {}, headers);
    if (text.includes(laneSlug)) return;
    if (performance.now() > deadlineMs) throw new Error(`${laneSlug} is not listed: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Gives an organization one of everything. */
export async function furnish(
  setup: Pick<MatrixSetup, 'accounts' | 'ownerOf' | 'upstreamOf'>,
  entry: Omit<Entry, 'headers'>,
): Promise<Objects> {
  const upstreamUrl = setup.upstreamOf(entry.organizationId);
  const objects = await addObjects(setup.accounts, { ...entry, upstreamUrl });
  await setup.accounts.changed(entry.organizationId);
  for (const id of Object.values<string>({ ...objects })) setup.ownerOf.set(id, entry.organizationId);
  return objects;
}

async function furnishAnother(setup: MatrixSetup): Promise<Objects> {
  const organizationId = await setup.accounts.addOrganization({ plan: 'enterprise' });
  const callerId = await setup.accounts.addMember(organizationId, { role: 'owner' });
  return furnish(setup, { organizationId, callerId, suffix: '' });
}

/**
 * The first id in a response that belongs to another organization. An error that repeats what was sent reveals
 * nothing.
 */
export function leakIn(
  ownerOf: ReadonlyMap<string, string>,
  answer: Answer,
  { organizationId, sent = {} }: { readonly organizationId: string; readonly sent?: Sample },
): string | undefined {
  const known = answer.status < 400 ? '' : JSON.stringify(sent);
  const foreign = (id: string) => (ownerOf.get(id) ?? organizationId) !== organizationId;
  return answer.text.match(UUID)?.find((id) => foreign(id) && !known.includes(id));
}
