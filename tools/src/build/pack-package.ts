import { join } from 'node:path';
import { runCommand } from '../check/run-command.ts';
import { contentFaults } from './contents.ts';

export interface Packed {
  /** The archive's path. */
  readonly archive: string;
  readonly bytes: number;
  readonly unpacked_bytes: number;
  readonly files: number;
}

interface NpmPack {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** Writes the archive that npm publishes; fails if a part is missing or a file is not needed. */
export async function packPackage(directory: string, destination: string): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination];
  const { ok, stdout, output } = await runCommand('npm', args, directory);
  const packed = ok ? (JSON.parse(stdout) as NpmPack[])[0] : undefined;
  if (packed === undefined) throw new Error(`npm could not pack ${directory}\n${output}`);
  const faults = contentFaults(packed.files.map(({ path }) => path));
  if (faults.length > 0) throw new Error(`the package has problems:\n${faults.join('\n')}`);
  return {
    archive: join(destination, packed.filename),
    bytes: packed.size,
    unpacked_bytes: packed.unpackedSize,
    files: packed.files.length,
  };
}
