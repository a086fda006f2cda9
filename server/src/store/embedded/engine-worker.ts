// The embedded PostgreSQL has its own thread: a statement blocks its thread until it ends, and would stall every stream
// that the process serves.
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { emptyDatabaseFor } from './empty-database.ts';
import type { EngineAnswer, EngineRequest, EngineSettings } from './engine-messages.ts';
import { SyncedFiles } from './synced-files.ts';

/** The library's start parameters, except that commits are forced to the disk and less memory is used. */
const START_PARAMETERS = [
  '--single',
  '-O',
  '-j',
  ...[
    'search_path=public',
    'exit_on_error=false',
    'log_checkpoints=false',
    'max_worker_processes=0',
    'max_parallel_workers=0',
    'max_parallel_workers_per_gather=0',
    'max_parallel_maintenance_workers=0',
    'io_method=sync',
    // The method that reaches the disk: the library's fdatasync does nothing.
    'wal_sync_method=fsync',
    'shared_buffers=64MB',
    'min_wal_size=32MB',
    'max_wal_size=128MB',
  ].flatMap((setting) => ['-c', setting]),
];

const port = parentPort;
if (port === null) throw new Error('this file runs only as a worker thread');
const { directory }: EngineSettings = workerData;

function answer(message: EngineAnswer, transferred: ArrayBuffer[] = []): void {
  port?.postMessage(message, transferred);
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

try {
  const empty = await emptyDatabaseFor(directory);
  const engine = await PGlite.create({
    dataDir: directory,
    fs: new SyncedFiles(directory),
    startParams: START_PARAMETERS,
    ...(empty === null ? {} : { loadDataDir: empty }),
  });

  const run = async (id: number, message: Uint8Array): Promise<void> => {
    const chunks: Uint8Array[] = [];
    // The bytes are a view of PostgreSQL's memory, valid only during the call.
    const onRawData = (view: Uint8Array) => void chunks.push(view.slice());
    await engine.execProtocolRawStream(message, { syncToFs: false, onRawData });
    const bytes = joined(chunks);
    answer({ id, bytes }, [bytes.buffer]);
  };

  port.on('message', (request: EngineRequest) => {
    if ('close' in request) void engine.close().finally(() => answer({ closed: true }));
    // PostgreSQL cannot report this failure. It ends the thread, and the next one recovers.
    else void run(request.id, request.bytes);
  });
  answer({ ready: true });
} catch (error) {
  answer({ refused: error instanceof Error ? error.message : String(error) });
}
