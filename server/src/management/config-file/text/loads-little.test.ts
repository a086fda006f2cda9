import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

/** Loads the entry in a separate process and prints the loaded modules. */
const PROBE = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
  await import(process.argv[1]);
  console.log(JSON.stringify(loaded));
`;

it('the text of the configuration file is read without loading stores, HTTP or what dials', () => {
  const entry = join(import.meta.dirname, 'index.ts');
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', PROBE, entry], {
    encoding: 'utf8',
  });
  const loaded = JSON.parse(printed) as string[];
  assert.ok(loaded.some((url) => url.endsWith('/registry/section-list.ts')));
  const heavy = loaded.filter((url) =>
    /node_modules\/(undici|pg|kysely|redis|fastify|pino|better-auth)\/|egress\/egress\.ts/.test(url),
  );
  assert.deepEqual(heavy, []);
});
