import { type Fault, plantIn } from '../faults/fault.ts';
import { faultLists } from '../faults/lists.ts';
import type { Finding, Tree } from './tree.ts';

/** Every planted fault still applies, exactly once, and the tests that must catch it are there. */
export function plantedFaults(
  tree: Tree,
  lists: Readonly<Record<string, readonly Fault[]>> = faultLists,
): Finding[] {
  const texts = new Map(tree.files.map(({ path, text }) => [path, text]));
  return Object.entries(lists).flatMap(([list, faults]) =>
    faults.flatMap((fault, at) => {
      const isRepeated = faults.findIndex(({ name }) => name === fault.name) < at;
      return complaintsAbout(fault, texts, isRepeated).map((complaint) => ({
        path: `tools/src/faults/lists/${list}.ts`,
        line: null,
        message: `fault '${fault.name}' ${complaint}`,
      }));
    }),
  );
}

function complaintsAbout(fault: Fault, texts: ReadonlyMap<string, string>, isRepeated: boolean): string[] {
  const complaints: string[] = [];
  const planted = plantIn(texts.get(fault.file) ?? '', fault);
  if (planted === null)
    complaints.push(
      `no longer applies: move it or remove it (its text to find must occur exactly once in ${fault.file})`,
    );
  if (planted === texts.get(fault.file)) complaints.push('changes nothing');
  if (isRepeated) complaints.push('has the name of another');
  for (const path of fault.tests) if (!texts.has(path)) complaints.push(`names a test that is gone: ${path}`);
  return complaints;
}
