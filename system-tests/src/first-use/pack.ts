import { execFile } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface Packed {
  readonly archive: string;
  readonly bytes: number;
}

const BUILD = join(import.meta.dirname, '../../../tools/src/build.ts');
const PACK_MS_MAX = 600_000;

/** The archive of the package under test, which `build --pack` left beside it. Packs one, as a release does, if the tests run from source. */
export async function pack(directory: string): Promise<Packed> {
  const entry = process.env['RELAY_SYSTEM_BIN'];
  const out = entry ? join(dirname(entry), '../..') : directory;
  if (!entry)
    await promisify(execFile)(process.execPath, [BUILD, '--pack', '--out', out], { timeout: PACK_MS_MAX });
  const [archive] = globSync(join(out, 'relay-gateway-*.tgz'));
  if (archive === undefined) throw new Error(`no archive in ${out}: npm run pack:release writes one`);
  return { archive, bytes: statSync(archive).size };
}
