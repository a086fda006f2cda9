import { closeSync, fsyncSync, openSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type EmscriptenOptions = Parameters<NodeFS['init']>[1];

/** What is used of the layer between PostgreSQL and the file system, which has no types for it. */
interface NodeFiles {
  readonly stream_ops: {
    fsync?(stream: { readonly nfd?: number; readonly node: unknown }): number;
  };
  realPath(node: unknown): string;
}

const IO_ERROR = 29;

/** The files of a data directory, with an fsync: the library's own answers "done" to it and does nothing. */
export class SyncedFiles extends NodeFS {
  override async init(...[engine, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(engine, options);
    const preRun = [...((emscriptenOpts.preRun ?? []) as NonNullable<EmscriptenOptions['preRun']>)];
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [...preRun, (module) => addFsync((module as unknown as { NODEFS: NodeFiles }).NODEFS)],
      },
    };
  }
}

function addFsync(files: NodeFiles): void {
  files.stream_ops.fsync = ({ nfd, node }) => {
    try {
      if (nfd !== undefined) fsyncSync(nfd);
      // Directories are opened without a descriptor of the system.
      else syncDirectory(files.realPath(node));
      return 0;
    } catch {
      return IO_ERROR;
    }
  };
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
