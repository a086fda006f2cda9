import { allRoutes } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import type { World } from '../world.ts';
import {
  type Column,
  hostedColumns,
  memberColumns,
  ownerColumns,
  strayTokenColumns,
  tokenColumns,
} from './columns.ts';
import type { Mode } from './expected.ts';
import { type MatrixSetup, runMatrix } from './matrix.ts';
import { adminSessionColumn, sessionColumns } from './session-columns.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Without predicates the database decides, by organization and not by role: callers of each kind that it must tell apart. */
const CARELESS: readonly string[] = ['role owner', 'other organization', 'session of an owner'];

/** What the table of callers and routes is tried on. */
export interface Access {
  readonly setup: MatrixSetup;
  readonly upstream: Upstream;
  readonly columns: readonly Column[];
}

export async function startAccess({ walk, deployment, accounts, callers }: World): Promise<Access> {
  const { hosted, accounts: withAccounts } = walk.mode;
  const upstream = await startUpstream();
  const selfHosted: Mode = withAccounts ? 'self_hosted' : 'self_hosted_without_accounts';
  const mode = hosted ? 'hosted' : selfHosted;
  const setup = { accounts, url: walk.url, mode, upstreamOf: upstream.urlOf, ownerOf: new Map() } as const;
  const tokens = { api: deployment.apiToken, admin: deployment.adminToken };
  if (hosted)
    return { setup, upstream, columns: [...hostedColumns, ...sessionColumns, ...strayTokenColumns(tokens)] };
  const [{ organizationId, userId: callerId } = { organizationId: '', userId: '' }] = callers;
  const owner = { organizationId, callerId };
  const columns = [
    ...tokenColumns(tokens, owner),
    adminSessionColumn(tokens.admin, owner, withAccounts),
    ...(withAccounts ? memberColumns(owner) : ownerColumns(owner)),
  ];
  return { setup, upstream, columns };
}

export interface TableFigures {
  readonly cells: number;
  readonly wrong: readonly string[];
}

/** Every route, sent by every caller. */
export async function compareTable({ setup, columns }: Access): Promise<TableFigures> {
  const { cells, wrong } = await runMatrix(setup, columns);
  const tried = columns.flatMap(({ routes = () => true }) => allRoutes.filter(routes));
  const missed = cells === tried.length ? [] : [`${cells} cells of ${tried.length}`];
  const lines = wrong.map(
    ({ column, route, expected, actual }) => `${route} by ${column}: ${expected} expected, ${actual}`,
  );
  return { cells, wrong: [...missed, ...lines] };
}

/** The same for some callers, at a server whose queries do not name their organization. */
export function compareCareless(access: Access, url: string): Promise<TableFigures> {
  const columns = access.columns.filter(({ name }) => IS_LONG || CARELESS.includes(name));
  if (columns.length < CARELESS.length) throw new Error(`only ${columns.length} callers`);
  return compareTable({ ...access, setup: { ...access.setup, url, replays: true }, columns });
}
