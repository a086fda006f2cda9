import type { InternalLink } from '../egress/index.ts';

/** A receiver that takes longer is not waited for. */
const SEND_MS_MAX = 10_000;
const OWNER = 'traces';

/** Where traces go, as the operator set it. */
export interface TracesTarget {
  readonly origin: string;
  readonly path: string;
}

/** Posts one export to the receiver. Rejects unless the receiver answers with a 2xx in time. */
export function sendTraces(
  link: InternalLink,
  { path }: TracesTarget,
  headers: readonly string[],
  body: Buffer,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const end = (why: string | null) => {
      clearTimeout(timer);
      if (why === null) resolve();
      else reject(new Error(why));
    };
    const timer = setTimeout(() => {
      stop();
      end(`no complete response within ${SEND_MS_MAX / 1_000} s`);
    }, SEND_MS_MAX);
    const stop = link.send(
      { method: 'POST', path, headers: ['content-type', 'application/x-protobuf', ...headers], body },
      {
        onHead(given) {
          status = given;
        },
        onData: () => undefined,
        onEnd: () => end(status < 300 ? null : `the receiver returned ${status}`),
        onFailure: end,
      },
      OWNER,
    );
  });
}
