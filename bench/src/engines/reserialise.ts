// The bare engine, except that it parses and serializes bodies: the baseline for splicing.
import { runEngine } from './engine.ts';

await runEngine((body, upstreamModel) => {
  const fields = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  fields['model'] = upstreamModel;
  return Buffer.from(JSON.stringify(fields));
});
