import { type Finding, findLines, type Tree } from './tree.ts';

/** Each would be true of one machine only. */
const TRACES: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  {
    pattern: /(?<![\w.:/-])\/(home|root|work|Users|private\/var)\/[\w.-]/,
    message: 'holds an absolute path of one machine',
  },
  { pattern: /file:\/\/\/(home|root|work|Users)\b/, message: 'holds an absolute path of one machine' },
  {
    pattern: /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|\b(artifactory|nexus|verdaccio)\.[a-z0-9-]+\.[a-z]{2,}/i,
    message: 'names the host of a package registry',
  },
  {
    pattern: /"resolved":\s*"http/,
    message: 'pins a download address; the lock file must work with any registry',
  },
];

/** Nothing in the tree depends on, or tells of, the machine it was written on. */
export function machineTraces(tree: Tree): Finding[] {
  return tree.files.flatMap((file) =>
    TRACES.flatMap(({ pattern, message }) => findLines(file, pattern, message)),
  );
}
