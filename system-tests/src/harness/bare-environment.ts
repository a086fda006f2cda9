import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What a process under test gets besides its settings: nothing of this machine that could change what it does. Hundreds of
 * processes load the same files, so they share what Node compiled of them. No load balancer has to notice that one stops.
 */
export function bareEnvironment(): Readonly<
  Record<'PATH' | 'NODE_COMPILE_CACHE' | 'RELAY_LAME_DUCK_MS', string>
> {
  return {
    RELAY_LAME_DUCK_MS: '0',
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'relay-tests-compiled'),
  };
}
