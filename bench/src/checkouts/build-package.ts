import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const OUTPUT_BYTES_MAX = 16 * 1_048_576;

/** `npm run build` of a checkout, into its own folder. */
export async function buildPackage(root: string): Promise<void> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: root, maxBuffer: OUTPUT_BYTES_MAX });
}
