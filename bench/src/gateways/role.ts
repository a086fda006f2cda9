import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { type PinnedProcess, startPinned } from '../pinned-process.ts';

export interface RoleOptions {
  /** The file that node runs: see `sourceEntry` and `packageEntry`. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  readonly core: 'gateway' | 'load';
  readonly nodeFlags?: readonly string[];
}

/** The product in one role, as a process of its own. */
export async function startRole(
  role: 'platform' | 'inference' | 'worker',
  { entry, env, core, nodeFlags = [] }: RoleOptions,
): Promise<PinnedProcess> {
  const port = await freePort();
  return startPinned({
    name: `relay (${role})`,
    core,
    port,
    args: [...nodeFlags, entry, 'serve', '--role', role],
    env: { ...env, RELAY_HTTP_ADDR: `127.0.0.1:${port}` },
  });
}

/** The sources of a checkout. */
export function sourceEntry(root: string): string {
  return join(root, 'cli/bin/relay.js');
}

/** The package that `npm run build` makes of a checkout. */
export function packageEntry(root: string): string {
  return join(root, 'dist/relay-gateway/bin/relay.js');
}
