import { parseArgs } from 'node:util';
import { anySeed, runCommand, UsageError, wholeNumber } from '@relay/testbed';
import fc from 'fast-check';
import { parserProperties } from './parser-properties.fixture.ts';

const names = parserProperties.map(({ name }) => name);
const USAGE = `usage: npm run fuzz:parsers -- [--inputs N] [--seed N] [--only NAME [--path P]]

Bytes that others wrote, given to every parser of them. The last line is one JSON object.
  --inputs N   how many, all together (10000)
  --only NAME  one of: ${names.join(', ')}
  --path P     with the seed: repeats one finding
`;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      inputs: { type: 'string', default: '10000' },
      seed: { type: 'string', default: anySeed() },
      only: { type: 'string' },
      path: { type: 'string' },
    },
  });
  const inputs = wholeNumber('--inputs', values.inputs, 1);
  const seed = wholeNumber('--seed', values.seed);
  const chosen = parserProperties.filter(({ name }) => values.only === undefined || name === values.only);
  if (chosen.length === 0) throw new UsageError(`no parser called ${values.only}`);
  let [done, crashes] = [0, 0];
  for (const { name, property } of chosen) {
    const found = await fc.check(property, {
      seed,
      numRuns: Math.ceil(inputs / chosen.length),
      ...(values.path === undefined ? {} : { path: values.path }),
    });
    done += found.numRuns;
    if (!found.failed) continue;
    crashes += 1;
    const error =
      found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
    process.stdout.write(
      `${name}: ${error.split('\n', 1)[0]} for ${fc.stringify(found.counterexample)}; again: npm run fuzz:parsers -- --only "${name}" --seed ${seed} --path ${found.counterexamplePath}\n`,
    );
  }
  process.stdout.write(`${JSON.stringify({ inputs: done, seed, crashes })}\n`);
  return crashes === 0 ? 0 : 1;
}

await runCommand(USAGE, main);
