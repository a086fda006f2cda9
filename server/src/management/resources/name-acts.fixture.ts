import assert from 'node:assert/strict';
import { createRandom, type Random } from '@relay/testbed/random';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { type RoutingTable, routingTableOf } from '../../domain/routing/routing.ts';
import { addOrganization, type ManagementFixture } from '../fixture.ts';

export interface NameActs {
  readonly seed: number;
  readonly acts: number;
  /** Acts that the server took without being told to take anything over. */
  readonly silent: number;
  /** Refused with `name_taken`, then taken because the second try said so. */
  readonly said: number;
  /** Those among them after which a name stood for something else. */
  readonly changed: number;
  /** Names that a client could have called, compared before and after each act. */
  readonly compared: number;
}

// Few words, so that slugs, names, models and `provider/model` often collide, also by case.
const WORDS = [
  'Prod',
  'prod',
  'PROD',
  'prod-2',
  'Batch',
  'batch',
  'one',
  'two',
  'one/two',
  'One/Two',
  'two/one',
];
const MODELS = ['one', 'two', 'one/two', 'two/one', 'prod', 'Prod', 'batch', 'prod-2'];
const ROWS_MAX = 12;

interface Act {
  readonly run: (takesOver: boolean) => Promise<unknown>;
  /** The lane or endpoint whose own names may end with it. */
  readonly ends: string | null;
}

/**
 * Random creates, renames, deletes, enables and applies of files in one organization. After each, every name that could be called
 * before must stand for the same, unless the act said so; what ended by itself may stand for nothing.
 */
export async function runNameActs(room: ManagementFixture, seed: number, acts: number): Promise<NameActs> {
  const caller = await addOrganization(room.db, `names-${seed}-${acts}`);
  const random = createRandom(seed);
  const counts = { silent: 0, said: 0, changed: 0, compared: 0 };
  const table = async () => routingTableOf(await room.snapshots.load(caller.organizationId));
  let before = await table();
  for (let index = 0; index < acts; index += 1) {
    const act = await nextAct(room, caller, random);
    const isTaken = await act.run(false).then(() => false, takenName);
    if (isTaken === null) continue;
    if (isTaken) await act.run(true);
    const after = await table();
    const moved: string[] = [];
    for (const name of namesIn(before)) {
      const [old, now] = [meaningOf(before, name), meaningOf(after, name)];
      counts.compared += 1;
      if (old !== null && now !== old && !(now === null && isEnded(act, old)))
        moved.push(`${name}: ${old} → ${now}`);
    }
    if (!isTaken) assert.deepEqual(moved, [], `seed ${seed}, act ${index}: nothing was said`);
    counts[isTaken ? 'said' : 'silent'] += 1;
    if (moved.length > 0) counts.changed += 1;
    before = after;
  }
  return { seed, acts, ...counts };
}

/** Null: refused for another reason, such as a reference that is in use. */
function takenName(error: unknown): boolean | null {
  if (!(error instanceof RelayError)) throw error;
  if (error.code === 'name_taken') return true;
  assert.ok(['conflict', 'managed_by_file'].includes(error.code), error.message);
  return null;
}

async function nextAct(room: ManagementFixture, caller: Caller, random: Random): Promise<Act> {
  const { call } = room;
  const { body: lanes } = await call('listLanes', caller);
  const { body: endpoints } = await call('listEndpoints', caller);
  const { body: providers } = await call('listProviders', caller);
  const kind = random.integer(0, 11);
  const lane = lanes.length === 0 ? undefined : random.pick(lanes);
  const endpoint = endpoints.length === 0 ? undefined : random.pick(endpoints);
  const provider = providers.length === 0 ? undefined : random.pick(providers);
  const name = random.pick(WORDS);
  const enabled = random.integer(0, 3) > 0;
  if (provider === undefined || (kind === 0 && providers.length < 4)) {
    const body = { name: random.pick(['One', 'Two']), base_url: 'https://api.example.com/v1' };
    return { run: () => call('createProvider', caller, { body }), ends: null };
  }
  if (kind === 1 && provider !== undefined)
    return { run: () => call('deleteProvider', caller, { id: provider.id }), ends: null };
  if (kind === 2) {
    const body = { enabled };
    return { run: () => call('updateProvider', caller, { id: provider.id, body }), ends: null };
  }
  if (kind === 3) return fileAct(room, caller, name);
  if (endpoint === undefined || (kind < 6 && endpoints.length < ROWS_MAX)) {
    const body = { provider_id: provider.id, name, upstream_model: random.pick(MODELS), enabled };
    return {
      run: (takes_over) =>
        call('createEndpoint', caller, { body: { ...body, route_kind: 'chat', takes_over } }),
      ends: null,
    };
  }
  if (kind === 6) {
    const body = { upstream_model: random.pick(MODELS), enabled };
    const { id } = endpoint;
    return {
      run: (takes_over) => call('updateEndpoint', caller, { id, body: { ...body, takes_over } }),
      ends: 'model',
    };
  }
  if (kind === 7) {
    const { id } = endpoint;
    return {
      run: (takes_over) => call('deleteEndpoint', caller, { id, query: { takes_over } }),
      ends: 'model',
    };
  }
  if (lane === undefined || (kind < 10 && lanes.length < ROWS_MAX)) {
    const body = { name, enabled };
    return { run: (takes_over) => call('createLane', caller, { body: { ...body, takes_over } }), ends: null };
  }
  const ends = `lane ${lane.id}`;
  const { id, default_max_wait_ms, allow_fallback } = lane;
  if (kind === 10)
    return { run: (takes_over) => call('deleteLane', caller, { id, query: { takes_over } }), ends };
  const body = { name, default_max_wait_ms, allow_fallback, enabled };
  return { run: (takes_over) => call('updateLane', caller, { id, body: { ...body, takes_over } }), ends };
}

/** A file with one lane is applied, and released, so that its lane can be changed by other acts. */
function fileAct({ call }: ManagementFixture, caller: Caller, name: string): Act {
  const lanes = [{ slug: `of-file-${name.trim().toLowerCase().replaceAll(/\W+/g, '-')}`, name }];
  return {
    async run(takes_over) {
      const config = { version: 1 as const, lanes };
      const { body: plan } = await call('planConfig', caller, { body: { config } });
      const isRefused = await call('applyConfig', caller, { body: { config, takes_over } }).then(
        () => null,
        (error: unknown) => error,
      );
      assert.equal(
        isRefused !== null,
        plan.name_changes.length > 0 && !takes_over,
        'the plan shows what is refused',
      );
      if (isRefused !== null) throw isRefused;
      await call('applyConfig', caller, { body: { config: { version: 1 }, release: true } });
    },
    // The file renames the lane that it applied before.
    ends: 'lane',
  };
}

function namesIn(table: RoutingTable): ReadonlySet<string> {
  const models = [...table.candidates.values()].flatMap(({ endpoint: { upstreamModel }, provider }) => [
    upstreamModel,
    `${provider.slug}/${upstreamModel}`,
  ]);
  return new Set([...table.lanes.flatMap(({ name, slug }) => [name, slug]), ...models]);
}

/** What requests with this name reach; null when none can be served, or nothing has the name. */
function meaningOf(table: RoutingTable, name: string): string | null {
  const route = table.resolve(name);
  if (route === undefined) return null;
  if (route.lane !== null) return `lane ${route.lane.id}`;
  const served = route.members.some(
    ({ candidate }) => candidate.endpoint.enabled && candidate.provider.enabled,
  );
  if (!served) return null;
  const isModel = route.members.every(({ candidate }) => candidate.endpoint.upstreamModel === name);
  return isModel ? `model ${name}` : `provider and model ${name}`;
}

function isEnded({ ends }: Act, meaning: string): boolean {
  if (ends === null) return meaning.startsWith('model') || meaning.startsWith('provider');
  return ends === 'model' ? !meaning.startsWith('lane') : meaning.startsWith(ends);
}
