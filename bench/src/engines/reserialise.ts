// The bare engine, except that bodies are parsed and written anew: what splicing is measured against.
import { runEngine } from './engine.ts';

await runEngine((body, upstreamModel) => {
  const fields = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  fields['model'] = upstreamModel;
  return Buffer.from(JSON.stringify(fields));
});
