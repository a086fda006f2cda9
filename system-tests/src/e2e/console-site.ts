import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Deployment, startDeployment } from '../harness/deployment.ts';

const CONSOLE = join(import.meta.dirname, '../../../console/dist/index.html');

/** A deployment that serves the console, with people and keys. The console must have been built. */
export async function startConsoleSite(env: Readonly<Record<string, string>> = {}): Promise<Deployment> {
  // A built package contains its console.
  if (!process.env['RELAY_SYSTEM_BIN'] && !existsSync(CONSOLE))
    throw new Error('the console is not built; run npm run build:console first');
  return startDeployment({
    env: {
      RELAY_ACCOUNTS: 'true',
      RELAY_AUTH_SECRET: randomBytes(32).toString('base64url'),
      ...env,
    },
    provider: { keys: ['sk-upstream'] },
  });
}
