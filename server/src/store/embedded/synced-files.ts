import { closeSync, fsyncSync, openSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type EmscriptenOptions = Parameters<NodeFS['init']>[1];

/** The used part of the file system layer, which has no types. */
interface NodeFiles {
  readonly stream_ops: {
    fsync?(stream: { readonly nfd?: number; readonly node: unknown }): number;
  };
  realPath(node: unknown): string;
}

const IO_ERROR = 29;

/** The files of a data directory, with a working fsync: the library's own does nothing. */
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
      // Directories are opened without a system descriptor.
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
