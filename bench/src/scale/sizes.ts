import { type RunningRelay, startRelay } from '../gateways/relay.ts';
import { requestBytes } from '../load/client-connection.ts';
import { type LoadSlice, loadSlice } from '../load/load-slice.ts';
import { smallBody } from '../request-bodies.ts';
import { populate } from './populate.ts';

/** A deployment of some size, all of which is in use. */
export interface SizedGateway {
  readonly pid: number;
  /** Every caller sends a request, so that the gateway holds what it needs. */
  touchAll(): Promise<void>;
  slice(sliceMs: number): Promise<LoadSlice>;
  stop(): Promise<void>;
}

const CONNECTIONS = 64;
const TOUCH_SLICE_MS = 1_000;
const TOUCH_SLICES_MAX = 600;

/** `hot` bounds how many of the callers send requests. */
export async function startSized(upstreamUrl: string, size: number, hot: number): Promise<SizedGateway> {
  let requests: readonly Buffer[] = [];
  const gateway: RunningRelay = await startRelay(upstreamUrl, {
    setup: { candidates: 1, limited: false },
    async populate(stores) {
      const callers = (await populate({ ...stores, upstreamUrl, size })).slice(0, 2 * hot);
      requests = callers.map(({ key, model }) =>
        requestBytes(0, { authorization: `Bearer ${key}` }, smallBody(model)),
      );
    },
  });
  let next = 0;
  const nextRequest = (): Buffer => {
    const request = requests[next % requests.length];
    next += 1;
    if (request === undefined) throw new Error('there are no callers');
    return request;
  };
  const { port, pid } = gateway;
  const slice = (sliceMs: number) =>
    loadSlice({ port, pid, nextRequest, connections: CONNECTIONS, sliceMs, streaming: false });
  return {
    pid,
    slice,
    async touchAll() {
      for (let slices = 0; slices < TOUCH_SLICES_MAX && next < requests.length; slices += 1)
        await slice(TOUCH_SLICE_MS);
      if (next < requests.length)
        throw new Error(`only ${next} of ${requests.length} callers were served in time`);
    },
    stop: gateway.stop,
  };
}
