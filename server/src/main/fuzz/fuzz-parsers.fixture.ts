// `npm run fuzz:parsers -- --inputs N [--seed N]`: bytes that others wrote, given to every parser of them. The last line is one JSON
// object. `--only NAME --seed N --path P` repeats one finding.
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { parserProperties } from './parser-properties.fixture.ts';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: 'string' },
    path: { type: 'string' },
  },
});
const [inputs, seed] = [Number(values.inputs), Number(values.seed)];
const chosen = parserProperties.filter(({ name }) => values.only === undefined || name === values.only);
if (chosen.length === 0)
  throw new Error(`--only is one of ${parserProperties.map(({ name }) => name).join(', ')}`);

const findings: string[] = [];
let done = 0;
for (const { name, property } of chosen) {
  const found = await fc.check(property, {
    seed,
    numRuns: Math.ceil(inputs / chosen.length),
    ...(values.path === undefined ? {} : { path: values.path }),
  });
  done += found.numRuns;
  if (!found.failed) continue;
  const error =
    found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  findings.push(
    `${name}: ${error.split('\n', 1)[0]} for ${fc.stringify(found.counterexample)}; again: npm run fuzz:parsers -- --only "${name}" --seed ${seed} --path ${found.counterexamplePath}`,
  );
}
for (const finding of findings) process.stdout.write(`${finding}\n`);
process.stdout.write(`${JSON.stringify({ inputs: done, seed, crashes: findings.length })}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
