import { generateKeyPairSync } from 'node:crypto';
import { Command } from 'commander';
import type { Surroundings } from '../kit/surroundings.ts';

export function contextKeyCommand({ stdout }: Surroundings): Command {
  return new Command('context-key')
    .description('Print a new key pair for signed contexts between the platform and inference roles')
    .action(() => {
      const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
      // Comments are on separate lines, because some .env parsers support no others.
      const lines = [
        '# Secret: for the platform role only.',
        `RELAY_CONTEXT_SIGNING_KEY=${base64(d)}`,
        '# Public: for the inference role.',
        `RELAY_CONTEXT_VERIFY_KEYS=${base64(x)}`,
      ];
      stdout.write(`${lines.join('\n')}\n`);
    });
}

function base64(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('base64');
}
