import { LANE, startUpstream } from '../gateways/gateway.ts';
import { startRelay } from '../gateways/relay.ts';
import { openCounters } from '../limits/redis-counters.ts';
import { requestBytes } from '../load/client-connection.ts';
import { loadSlice } from '../load/load-slice.ts';
import { smallBody } from '../request-bodies.ts';
import { rounded } from '../statistics.ts';

const CONNECTIONS = 8;

/** Counts the script calls that the product makes for a request that does not wait. */
export async function measureRoundTrips(sliceMs: number): Promise<{ round_trips: number }> {
  const upstream = await startUpstream();
  try {
    const gateway = await startRelay(upstream.url, { setup: { candidates: 2, limited: true } });
    try {
      const { port, pid, headers } = gateway;
      const request = requestBytes(port, headers, smallBody(LANE));
      const load = { port, pid, nextRequest: () => request, sliceMs, streaming: false };
      const counters = await openCounters(gateway.redisUrl);
      try {
        await loadSlice({ ...load, connections: 1 });
        const before = await counters.read();
        const slice = await loadSlice({ ...load, connections: CONNECTIONS });
        const after = await counters.read();
        return { round_trips: rounded((after.scripts.calls - before.scripts.calls) / slice.answered, 2) };
      } finally {
        counters.close();
      }
    } finally {
      await gateway.stop();
    }
  } finally {
    await upstream.stop();
  }
}
