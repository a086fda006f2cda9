// `npm run test:configuration`: random acts on names, and around a configuration file. The last line is one JSON object.
import { parseArgs } from 'node:util';
import { anySeed, freshDatabase, runCommand, startPostgres, wholeNumber } from '@relay/testbed';
import { runFileActs } from './config-file/file-acts.fixture.ts';
import { startManagement } from './fixture.ts';
import { runNameActs } from './resources/name-acts.fixture.ts';

const USAGE = `usage: npm run test:configuration -- [--names N] [--file N] [--seed N]

Runs random acts on a private PostgreSQL server. After each, every callable name stands for what it stood for, or the act said
otherwise; and the plan of a file is empty exactly when the export equals the file.
  --names N  creates, renames, deletes and applies of lanes, endpoints and providers (10000)
  --file N   acts around a managed file (2000)
  --seed N   repeat an earlier run
`;

/** Organizations stay small, and a failure is found after few acts, so many short runs cover more than one long run. */
const ACTS_PER_RUN = 500;

await runCommand(USAGE, async (args) => {
  const { values } = parseArgs({
    args: [...args],
    options: { names: { type: 'string' }, file: { type: 'string' }, seed: { type: 'string' } },
  });
  const seed = wholeNumber('--seed', values.seed ?? anySeed());
  const postgres = await startPostgres({ connectionsMax: 50 });
  // Where `freshDatabase` finds its server.
  process.env['TEST_DATABASE_URL'] = postgres.url;
  const database = await freshDatabase();
  const room = await startManagement(database.url);
  try {
    const names = await inRuns(wholeNumber('--names', values.names ?? '10000'), seed, (from, acts) =>
      runNameActs(room, from, acts),
    );
    const file = await inRuns(wholeNumber('--file', values.file ?? '2000'), seed, (from, acts) =>
      runFileActs(room, from, acts),
    );
    process.stdout.write(`${JSON.stringify({ seed, names, file })}\n`);
    return 0;
  } finally {
    await room.close();
    await database.drop();
    await postgres.remove();
  }
});

async function inRuns(
  acts: number,
  seed: number,
  run: (seed: number, acts: number) => Promise<object>,
): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (let done = 0; done < acts; done += ACTS_PER_RUN) {
    const counts = await run(seed + done, Math.min(ACTS_PER_RUN, acts - done));
    for (const [name, count] of Object.entries(counts))
      if (name !== 'seed') sums[name] = (sums[name] ?? 0) + Number(count);
  }
  return sums;
}
