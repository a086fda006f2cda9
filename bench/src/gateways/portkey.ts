import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { freePort } from '@relay/testbed';
import { startPinned } from '../pinned-process.ts';
import type { Gateway } from './gateway.ts';

const ENTRY = '@portkey-ai/gateway/build/start-server.js';

/** Where Portkey's gateway was installed, or null when it was not. `directory` is where npm installed it. */
export function findPortkey(directory: string | undefined): string | null {
  const from = directory === undefined ? import.meta.filename : join(resolve(directory), 'package.json');
  try {
    return createRequire(from).resolve(ENTRY);
  } catch (error) {
    if (directory !== undefined) throw new Error(`${ENTRY} is not below ${directory}`, { cause: error });
    return null;
  }
}

/** Portkey's gateway on the same machine. Request headers select its upstream; it meters nothing. */
export async function startPortkey(entry: string, upstreamUrl: string): Promise<Gateway> {
  const port = await freePort();
  const process = await startPinned({
    name: 'portkey',
    core: 'gateway',
    port,
    args: [entry, `--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
  });
  return {
    ...process,
    headers: {
      authorization: 'Bearer sk-upstream',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': upstreamUrl,
    },
  };
}
