import { adminClient } from '../harness/admin-client.ts';
import { afterMs } from '../harness/until.ts';

export interface ManagementWrites {
  /** Names of the resources whose creation was confirmed. */
  made(): readonly string[];
  stop(): Promise<void>;
}

const PAUSE_MS = 25;

/** Creates one resource after the other and records which responses arrived. */
export function startManagementWrites(url: string, token: string): ManagementWrites {
  const admin = adminClient(url, token);
  const made: string[] = [];
  let running = true;

  async function write(): Promise<void> {
    for (let count = 1; running; count += 1) {
      const name = `written ${count}`;
      const body = { name, enabled: false };
      // The server may be dead.
      const answer = await admin.call('POST', '/api/relay/routing-lanes', body).catch(() => null);
      if (answer?.status === 201) made.push(name);
      await afterMs(PAUSE_MS);
    }
  }

  const writing = write();
  return {
    made: () => made,
    stop() {
      running = false;
      return writing;
    },
  };
}
