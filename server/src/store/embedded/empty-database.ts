import { existsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';

const EMPTY_DATABASE_FILE = 'empty-database.tar.zst';

/** An empty database consists of the same files three times: a window that spans all of them makes it a third of the size. */
const WINDOW_LOG = 26;
const COMPRESSION = {
  [constants.ZSTD_c_compressionLevel]: 9,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: WINDOW_LOG,
};

/**
 * The files of a new database, to load into an empty directory. The package has them, because making them takes most of
 * the first start; null in the repository, where the engine makes them, and for a directory that has a database.
 */
export async function emptyDatabaseFor(directory: string): Promise<Blob | null> {
  const file = join(import.meta.dirname, EMPTY_DATABASE_FILE);
  if (existsSync(join(directory, 'PG_VERSION')) || !existsSync(file)) return null;
  const files = zstdDecompressSync(await readFile(file), {
    params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG },
  });
  return new Blob([files]);
}

/** For the build. */
export async function writeEmptyDatabase(directory: string): Promise<void> {
  const engine = await PGlite.create();
  try {
    // Without it, each first start would recover as after a crash.
    await engine.exec('checkpoint');
    const files = await (await engine.dumpDataDir('none')).arrayBuffer();
    const compressed = zstdCompressSync(files, { params: COMPRESSION });
    writeFileSync(join(directory, EMPTY_DATABASE_FILE), compressed);
  } finally {
    await engine.close();
  }
}
