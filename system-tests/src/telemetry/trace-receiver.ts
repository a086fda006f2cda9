import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js';

/** A span as OpenTelemetry's own definitions read it; ids in hexadecimal. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failed: boolean;
  readonly schemaUrl: string;
  readonly service: string;
}

export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that was received, as it came. */
  bytes(): Buffer;
  /** Headers of the exports. */
  readonly headers: readonly IncomingMessage['headers'][];
  /** From now on exports are read and never answered. */
  hang(): void;
  close(): Promise<void>;
}

/** An OTLP receiver over HTTP. */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let isHanging = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const isExport =
        request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
      bodies.push(body);
      headers.push(request.headers);
      if (isExport) spans.push(...decode(body));
      if (isHanging) return;
      response.writeHead(isExport ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bytes: () => Buffer.concat(bodies),
    headers,
    hang() {
      isHanging = true;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly schemaUrl: string; readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Pair[];
  readonly status?: { readonly code: string } | null;
}

interface MessageType {
  decode(bytes: Buffer): unknown;
  toObject(message: unknown, options: object): ExportRequest;
}

const collector = root as unknown as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: MessageType } };
      };
    };
  };
};

function decode(body: Buffer): ReceivedSpan[] {
  const type = collector.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
  const options = { longs: String, enums: String, bytes: String, defaults: true };
  const { resourceSpans } = type.toObject(type.decode(body), options);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ schemaUrl, spans }) =>
      spans.map((span) => ({
        traceId: hexOf(span.traceId),
        spanId: hexOf(span.spanId),
        parentSpanId: hexOf(span.parentSpanId ?? ''),
        traceState: span.traceState ?? '',
        name: span.name,
        kind: span.kind,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: attributesOf(span.attributes),
        failed: span.status?.code === 'STATUS_CODE_ERROR',
        schemaUrl,
        service: String(attributesOf(resource.attributes)['service.name']),
      })),
    ),
  );
}

function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function attributesOf(pairs: readonly Pair[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const { intValue } = value;
      const [other] = Object.values(value);
      return [key, intValue === undefined ? (other ?? '') : Number(intValue)];
    }),
  );
}
