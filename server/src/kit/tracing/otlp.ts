import { ProtobufWriter } from './protobuf.ts';

/** The version of the semantic conventions whose names the attributes have. Those for generative AI still change between versions. */
const SEMANTIC_CONVENTIONS = '1.37.0';
const SCHEMA_URL = `https://opentelemetry.io/schemas/${SEMANTIC_CONVENTIONS}`;

/** A null value leaves the attribute out. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

export interface EncodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first span of a trace. */
  readonly parentId: string | null;
  /** The parent is a span of the client. */
  readonly isRemote: boolean;
  readonly traceState: string;
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  /** Milliseconds since the epoch, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** The span failed. */
  readonly failed: boolean;
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;
/** Sampled, and the next bit but one says whether the parent is remote. */
const FLAGS_LOCAL = 0x101;
const FLAGS_REMOTE = 0x301;

/** A `Span` of opentelemetry.proto.trace.v1, as a field of the message that holds it. */
export function encodeSpan(span: EncodedSpan): Buffer {
  const writer = new ProtobufWriter();
  writer.message(2, (inner) => {
    inner.bytes(1, Buffer.from(span.traceId, 'hex'));
    inner.bytes(2, Buffer.from(span.spanId, 'hex'));
    if (span.traceState !== '') inner.text(3, span.traceState);
    if (span.parentId !== null) inner.bytes(4, Buffer.from(span.parentId, 'hex'));
    inner.text(5, span.name);
    inner.varint(6, KINDS[span.kind]);
    inner.fixed64(7, nanoseconds(span.startMs));
    inner.fixed64(8, nanoseconds(Math.max(span.startMs, span.endMs)));
    writeAttributes(inner, 9, span.attributes);
    if (span.failed) inner.message(15, (status) => status.varint(3, STATUS_ERROR));
    inner.fixed32(16, span.isRemote ? FLAGS_REMOTE : FLAGS_LOCAL);
  });
  // A view of the writer's bytes would keep a whole slab of Node's pool for as long as the span waits.
  const written = writer.end();
  const own = Buffer.allocUnsafeSlow(written.length);
  written.copy(own);
  return own;
}

/** An `ExportTraceServiceRequest` with these spans, all of one process. */
export function exportRequest(resource: Attributes, version: string, spans: readonly Buffer[]): Buffer {
  const scope = new ProtobufWriter();
  scope.message(1, (inner) => {
    inner.text(1, 'relay');
    inner.text(2, version);
  });
  const schema = new ProtobufWriter();
  schema.text(3, SCHEMA_URL);
  const scopeSpans = [scope.end(), ...spans, schema.end()];
  const about = new ProtobufWriter();
  about.message(1, (inner) => writeAttributes(inner, 1, resource));
  const resourceSpans = [about.end(), ...asField(2, scopeSpans), schema.end()];
  return Buffer.concat(asField(1, resourceSpans));
}

function asField(field: number, parts: readonly Buffer[]): Buffer[] {
  const head = new ProtobufWriter();
  head.head(
    field,
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  return [head.end(), ...parts];
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null) continue;
    writer.message(field, (pair) => {
      pair.text(1, key);
      pair.message(2, (any) => {
        if (typeof value === 'string') any.text(1, value);
        else if (typeof value === 'boolean') any.varint(2, Number(value));
        else if (Number.isSafeInteger(value) && value >= 0) any.varint(3, value);
        else any.double(4, value);
      });
    });
  }
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}
