import { join } from 'node:path';
import type { PlantedCopy } from '../check/planted-copy.ts';
import { runCommand } from '../check/run-command.ts';
import { type Fault, plantIn } from './fault.ts';

/**
 * Plants all faults together and compiles the tree: a fault that the compiler refuses could not be made, and a name that
 * is not there would fail every test. What a fault leaves unused is allowed.
 */
export async function compileFaults(faults: readonly Fault[], copy: PlantedCopy): Promise<boolean> {
  const originals = new Map(faults.map(({ file }) => [file, copy.read(file)]));
  let waiting = faults;
  let isAccepted = true;
  while (waiting.length > 0) {
    // Faults that overlap are planted in the next round.
    const overlapping: Fault[] = [];
    for (const [file, text] of originals) copy.write(file, text);
    for (const fault of waiting) {
      const planted = plantIn(copy.read(fault.file), fault);
      if (planted === null) overlapping.push(fault);
      else copy.write(fault.file, planted);
    }
    if (overlapping.length === waiting.length) {
      for (const { name } of overlapping) process.stdout.write(`fault '${name}' no longer applies\n`);
      isAccepted = false;
      break;
    }
    for (const project of ['tsconfig.json', 'console/tsconfig.json']) {
      const compiler = join(copy.root, 'node_modules/@typescript/native/bin/tsc');
      const unused = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
      const { ok, output } = await runCommand(
        process.execPath,
        [compiler, '--project', project, ...unused],
        copy.root,
      );
      if (!ok) process.stdout.write(output);
      isAccepted &&= ok;
    }
    waiting = overlapping;
  }
  for (const [file, text] of originals) copy.write(file, text);
  return isAccepted;
}
