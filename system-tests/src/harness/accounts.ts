import { createHmac, hkdfSync, randomBytes, randomUUIDv7 } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Scope } from '@relay/contract';
import pg from 'pg';

export type Role = 'owner' | 'admin' | 'developer' | 'viewer' | 'billing';
export type Plan = 'self_hosted' | 'closed' | 'free' | 'team' | 'enterprise';

export interface SeededKey {
  readonly id: string;
  /** The whole secret, as a client would send it. */
  readonly key: string;
}

export interface MemberSetup {
  readonly role: Role;
  readonly status?: 'active' | 'suspended';
  readonly name?: string;
  /** An existing user, who becomes a member of this organization too. */
  readonly userId?: string;
}

export interface KeySetup {
  readonly organizationId: string;
  readonly userId: string;
  /** As stored: with everything they imply. */
  readonly scopes: readonly Scope[];
  readonly name?: string;
  readonly state?: 'active' | 'revoked' | 'expired';
}

/** Writes organizations, members and keys to the database directly, where the API would reject them or be slow. */
export interface Accounts {
  addOrganization(setup: { plan: Plan; name?: string }): Promise<string>;
  /** Answers the user's id. */
  addMember(organizationId: string, setup: MemberSetup): Promise<string>;
  addKey(setup: KeySetup): Promise<SeededKey>;
  /** Makes gateways reload the organization soon; needed after a `query` that changes it. */
  changed(organizationId: string): Promise<void>;
  query: Query;
  /** Several statements in one transaction, so that gateways see all or none. */
  atOnce<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export type Query = (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

export interface AccountsOptions {
  readonly databaseUrl: string;
  /** RELAY_AUTH_SECRET of the deployment. */
  readonly authSecret: string;
}

export function openAccounts({ databaseUrl, authSecret }: AccountsOptions): Accounts {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  // A suite may stop PostgreSQL under an idle connection; the next query says so where it matters.
  pool.on('error', () => undefined);
  const pepper = Buffer.from(hkdfSync('sha256', authSecret, '', 'relay key pepper', 32));

  const queryOn =
    (client: pg.Pool | pg.PoolClient): Query =>
    async (text, values = []) => {
      const { rows } = await client.query(text, [...values]);
      return rows as Record<string, unknown>[];
    };
  const query = queryOn(pool);

  async function changed(organizationId: string): Promise<void> {
    await query(
      `with clock as (update config_clock set version = version + 1 returning version),
       told as (update organizations set config_version = (select version from clock) where id = $1)
       select pg_notify('relay_config', $1::text)`,
      [organizationId],
    );
  }

  return {
    changed,
    query,
    async atOnce(work) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const result = await work(queryOn(client));
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    async addOrganization({ plan, name = 'Acme' }) {
      const id = randomUUIDv7();
      await query('insert into organizations (id, name, slug, plan) values ($1, $2, $3, $4)', [
        id,
        name,
        `org-${id}`,
        plan,
      ]);
      return id;
    },
    async addMember(organizationId, { role, status = 'active', name = 'Ada', userId }) {
      const id = userId ?? randomUUIDv7();
      if (userId === undefined) {
        const email = `${id}@example.com`;
        await query('insert into users (id, name, email) values ($1, $2, $3)', [id, name, email]);
      }
      await query(
        'insert into organization_members (organization_id, user_id, role, status) values ($1, $2, $3, $4)',
        [organizationId, id, role, status],
      );
      await changed(organizationId);
      return id;
    },
    async addKey({ organizationId, userId, scopes, name = 'Main', state = 'active' }) {
      const id = randomUUIDv7();
      const { key, publicId } = mintKey();
      await query(
        `insert into api_keys (organization_id, id, user_id, name, public_id, secret_hmac, scopes, expires_at, revoked_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          organizationId,
          id,
          userId,
          name,
          publicId,
          createHmac('sha256', pepper).update(key).digest(),
          scopes,
          state === 'expired' ? new Date(Date.now() - 60_000) : null,
          state === 'revoked' ? new Date(Date.now() - 60_000) : null,
        ],
      );
      return { id, key };
    },
    close: () => pool.end(),
  };
}

/** IDs that exist nowhere, for tests without a database. */
export function absentAccounts(): Accounts {
  const query: Query = () => Promise.resolve([]);
  return {
    addOrganization: () => Promise.resolve(randomUUIDv7()),
    addMember: () => Promise.resolve(randomUUIDv7()),
    addKey: () => Promise.resolve({ id: randomUUIDv7(), key: mintKey().key }),
    changed: () => Promise.resolve(),
    query,
    atOnce: (work) => work(query),
    close: () => Promise.resolve(),
  };
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_CHARACTERS = 6;

/** A well-formed key; without `publicId`, one that does not exist. */
export function mintKey(publicId = randomText(10)): { key: string; publicId: string } {
  const unchecked = `rly_${publicId}_${randomText(43)}`;
  return { key: unchecked + checksumOf(unchecked), publicId };
}

/** The same key with a checksum that does not fit. */
export function spoilChecksum(key: string): string {
  const last = key.at(-1) === 'a' ? 'b' : 'a';
  return key.slice(0, -1) + last;
}

export function publicIdOf(key: string): string {
  return key.split('_')[1] ?? '';
}

export function checksumOf(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    digits = DIGITS.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

function randomText(characters: number): string {
  return [...randomBytes(characters)].map((byte) => DIGITS.charAt(byte % 62)).join('');
}
