/** A small mistake that a person could make in production code, and the tests that must fail with it. */
export interface Fault {
  /** What goes wrong, in a few words; unique in its list. */
  readonly name: string;
  /** Where, relative to the root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What a user or an operator would lose. */
  readonly why: string;
  /** Test files, relative to the root, the most telling one first. */
  readonly tests: readonly string[];
  /** Why this fault may survive. */
  readonly accepted?: string;
}

/** As a list writes it: paths are relative to the list's folder, or to the root if they begin with a slash. */
export interface ListedFault extends Omit<Fault, 'tests'> {
  /** Without these: the test file named after the file. */
  readonly tests?: readonly string[];
}

export function faultsIn(folder: string, listed: readonly ListedFault[]): readonly Fault[] {
  const fromRoot = (path: string) => (path.startsWith('/') ? path.slice(1) : `${folder}/${path}`);
  return listed.map((fault) => ({
    ...fault,
    file: fromRoot(fault.file),
    tests: (fault.tests ?? [fault.file.replace(/\.tsx?$/, '.test.ts')]).map(fromRoot),
  }));
}

/** A null says that the place to find is not there, or is there several times. */
export function plantIn(text: string, { find, replace }: Pick<Fault, 'find' | 'replace'>): string | null {
  const [before, after, ...more] = text.split(find);
  return before === undefined || after === undefined || more.length > 0 ? null : before + replace + after;
}
