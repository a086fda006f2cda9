import type { Job } from './job.ts';
import { ownProcess } from './own-process.ts';

/** A larger group needs more memory, and leaves less to the other core at the end of a run. */
const FILES_MAX = { unit: 40, db: 12, embedded: 12 } as const;

export interface FileGroup {
  readonly folder: string;
  readonly files: readonly string[];
}

/**
 * Groups test files by folder: a process costs 0.3 s of CPU, and the modules of a folder are loaded once. Files of
 * `ownProcess` stay alone.
 */
export function groupFiles(files: readonly string[], suite: keyof typeof FILES_MAX): FileGroup[] {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const folder = Object.hasOwn(ownProcess, file) ? file : folderOf(file);
    groups.set(folder, [...(groups.get(folder) ?? []), file]);
  }
  return [...groups].flatMap(([folder, members]) => {
    const parts = Math.ceil(members.length / FILES_MAX[suite]);
    const size = Math.ceil(members.length / parts);
    return Array.from({ length: parts }, (_, part) => ({
      folder: parts === 1 ? folder : `${folder} ${part + 1}`,
      files: members.slice(part * size, (part + 1) * size),
    }));
  });
}

/** A module of the server, or a member of the workspace. */
function folderOf(file: string): string {
  const [member = '', ...inside] = file.split('/');
  return member === 'server' ? `server/${inside.slice(0, 2).join('/')}` : member;
}

export function testJob(
  name: string,
  files: readonly string[],
  more: Partial<Omit<Job, 'name' | 'files'>> = {},
): Job {
  return {
    name,
    files,
    tier: 'run',
    command: [],
    env: {},
    needs: [],
    isAlone: false,
    isRoot: false,
    testName: null,
    // Tells what hangs from what is slow on a busy host.
    testMsMax: 4 * 60_000,
    msMax: 10 * 60_000,
    ...more,
  };
}
