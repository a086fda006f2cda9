import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AwsKeys, AwsScope } from '../../domain/aws-keys.ts';
import type { EgressRequest } from '../../kit/egress/index.ts';

/** A megabyte takes about a millisecond; larger bodies are hashed in several turns of the event loop. */
const SLICE_BYTES = 1024 * 1024;
const HASH_HEADER = 'x-amz-content-sha256';

type Body = EgressRequest['body'];

export interface AwsSigning {
  readonly keys: AwsKeys;
  readonly scope: AwsScope;
  readonly nowMs: number;
  /** Whether the hash of the body is also sent, and signed, as a header. */
  readonly sendsHash: boolean;
}

/** What is signed. The names of headers are lower case, `host` among them. */
export interface Signable {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** The headers that a signed request has in addition, by AWS Signature Version 4. */
export async function signAws(
  { method, path, headers, body }: Signable,
  { keys, scope, nowMs, sendsHash }: AwsSigning,
): Promise<Record<string, string>> {
  // Loaded with the first request that needs it: the library takes 11 MB.
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new SignatureV4({
    ...scope,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
    sha256: NodeSha256,
    applyChecksum: false,
  });
  const [pathname = '', ...query] = path.split('?');
  const hash = sendsHash ? { [HASH_HEADER]: await hashOf(body) } : {};
  const signed = await signer.sign(
    {
      method,
      protocol: 'https:',
      hostname: '',
      path: pathname,
      query: queryOf(query.join('?')),
      headers: { ...headers, ...hash },
      body: sendsHash || body === null ? undefined : Buffer.isBuffer(body) ? body : Buffer.concat(body),
    },
    { signingDate: new Date(nowMs) },
  );
  return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => !(name in headers)));
}

async function hashOf(body: Body): Promise<string> {
  const hash = createHash('sha256');
  let inTurn = 0;
  for (const piece of body === null ? [] : Buffer.isBuffer(body) ? [body] : body) {
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      const slice = piece.subarray(at, at + SLICE_BYTES);
      if (inTurn + slice.length > SLICE_BYTES) {
        await nextTurn();
        inTurn = 0;
      }
      hash.update(slice);
      inTurn += slice.length;
    }
  }
  return hash.digest('hex');
}

function queryOf(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = query[name];
    query[name] = before === undefined ? value : [...[before].flat(), value];
  }
  return query;
}

type HashSource = string | ArrayBuffer | ArrayBufferView;

/** The hash that the library asks for, with a key for a MAC. */
class NodeSha256 {
  readonly #secret: HashSource | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: HashSource) {
    this.#secret = secret;
    this.#hash = this.#fresh();
  }

  update(data: HashSource): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#fresh();
  }

  #fresh(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.#secret));
  }
}

function bytesOf(data: HashSource): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}
