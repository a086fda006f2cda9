import { parseArgs } from 'node:util';
import { startProviderSim } from './provider-sim.ts';
import type { BodyRetention } from './request-log.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    keys: { type: 'string' },
    models: { type: 'string' },
    seed: { type: 'string', default: '1' },
    bodies: { type: 'string', default: 'bytes' },
    anonymous: { type: 'boolean', default: false },
  },
});

const bodies = ['bytes', 'hash', 'none'].find((each) => each === values.bodies) as BodyRetention | undefined;
if (bodies === undefined) throw new Error("--bodies must be 'bytes', 'hash' or 'none'.");

const sim = await startProviderSim({
  port: Number(values.port),
  host: values.host,
  seed: Number(values.seed),
  anonymous: values.anonymous,
  bodies,
  ...(values.keys === undefined ? {} : { keys: values.keys.split(',') }),
  ...(values.models === undefined ? {} : { models: values.models.split(',') }),
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void sim.close().then(() => process.exit(0)));
}

process.stdout.write(
  `${JSON.stringify({ url: sim.url, base_url: sim.baseUrl, port: sim.port, pid: process.pid })}\n`,
);
