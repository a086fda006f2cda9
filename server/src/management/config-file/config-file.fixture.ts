import { randomUUIDv7 } from 'node:crypto';
import { after, before } from 'node:test';
import type { ConfigFile, ConfigPlan } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { addOrganization, type FixtureOptions, type ManagementFixture, startManagement } from '../fixture.ts';

export interface ApplyOptions {
  readonly prune?: boolean;
  readonly release?: boolean;
  readonly secrets?: Record<string, string>;
  readonly plan_hash?: string;
}

/** One management fixture for a whole suite, with shortcuts for the routes of the configuration file. */
export interface ConfigFileRoom {
  readonly room: () => ManagementFixture;
  /** An organization without configuration. */
  empty(): Promise<Caller>;
  exported(caller: Caller): Promise<ConfigFile>;
  plan(caller: Caller, config: ConfigFile, options?: ApplyOptions): Promise<ConfigPlan>;
  apply(caller: Caller, config: ConfigFile, options?: ApplyOptions): Promise<ConfigPlan>;
}

export function configFileRoom(options: FixtureOptions = {}): ConfigFileRoom {
  let database: FreshDatabase;
  let room: ManagementFixture;
  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, options);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });
  return {
    room: () => room,
    empty: () => addOrganization(room.db, `org-${randomUUIDv7()}`),
    exported: async (caller) => (await room.call('exportConfig', caller)).body,
    plan: async (caller, config, given = {}) =>
      (await room.call('planConfig', caller, { body: { config, ...given } })).body,
    apply: async (caller, config, given = {}) =>
      (await room.call('applyConfig', caller, { body: { config, ...given } })).body,
  };
}

export const SECRET = 'sk-the-secret-of-the-small-file';

/** A file with one item of each section, linked together. */
export function smallFile() {
  return {
    version: 1,
    providers: [{ name: 'Main', base_url: 'https://api.example.com/v1' }],
    credentials: [{ provider: 'main', name: 'key', secret_ref: 'env:MAIN_KEY' }],
    endpoints: [
      { name: 'Model', provider: 'main', credential: 'key', upstream_model: 'gpt-5', route_kind: 'multi' },
    ],
    lanes: [{ name: 'Fast' }],
    memberships: [{ lane: 'fast', endpoint: 'model', manual_rank: 1 }],
    pricing_policies: [
      { endpoint: 'model', input_cost_micros_per_1m_tokens: 1, output_cost_micros_per_1m_tokens: 2 },
    ],
    limit_policies: [
      { scope_type: 'endpoint', scope: 'model', metric: 'requests', period: 'minute', limit_value: 600 },
    ],
  } satisfies ConfigFile;
}

export const withSecret = { secrets: { 'env:MAIN_KEY': SECRET } };
