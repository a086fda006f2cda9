import pg from 'pg';
import type { GuardedClient } from './guarded-client.ts';

const BEGINS = /^\s*(?:begin|start transaction)\b/i;
const ENDS = /^\s*(?:commit|rollback)\s*$/i;

/**
 * Acts as `relay_app` for one organization. The role is set for one transaction at a time and ends with it, so neither a later use of the
 * connection nor a pooler that gives the session to another client can inherit it. A statement outside of a transaction gets its own.
 */
export function actForOrganization(client: GuardedClient, organizationId: string): GuardedClient {
  const settings = `select set_config('role', 'relay_app', true), set_config('relay.organization_id', ${pg.escapeLiteral(organizationId)}, true)`;
  let isOpen = false;

  /** A database user that may not act as the role fails here, and its connection serves on. */
  async function begin(text: string): Promise<pg.QueryResult> {
    try {
      return await client.query({ text: `${text}; ${settings}` });
    } catch (error) {
      await rollback();
      throw error;
    }
  }

  async function rollback(): Promise<void> {
    await client.query({ text: 'rollback' }).catch(() => undefined);
  }

  async function alone<T>(run: () => Promise<T>): Promise<T> {
    await begin('begin');
    try {
      const result = await run();
      await client.query({ text: 'commit' });
      return result;
    } catch (error) {
      await rollback();
      throw error;
    }
  }

  return {
    ...client,
    async query(query) {
      const { text } = query;
      if (BEGINS.test(text)) {
        const begun = await begin(text);
        isOpen = true;
        return begun;
      }
      if (!isOpen) return alone(() => client.query(query));
      if (ENDS.test(text)) isOpen = false;
      return client.query(query);
    },
    copyIn: (text, data) => (isOpen ? client.copyIn(text, data) : alone(() => client.copyIn(text, data))),
    // A transaction that was left open must not reach the next caller.
    release: (destroy) => client.release(destroy === true || isOpen),
  };
}
