import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { mintApiKey, publicIdOf } from '../../domain/api-key.ts';
import type { Usage } from '../../domain/money/usage.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { contextFor, newKeyPair } from '../../edge/context/context.fixture.ts';
import { createContextSigner } from '../../edge/context/sign-context.ts';
import { ContextRefusedError, createContextVerifier } from '../../edge/context/verify-context.ts';
import { cooldownUntilMs } from '../../inference/dispatch/cooldown.ts';
import { StreamReader } from '../../inference/respond/stream-reader.ts';
import { systemClock } from '../../kit/clock.ts';
import { parseTargetUrl } from '../../kit/egress/target-url.ts';
import { finish } from '../../kit/slices.ts';
import { readConfigText } from '../../management/config-file/text/check-config.ts';
import { cursorOfIds, idOfCursor } from '../../management/resources/cursor.ts';
import { readEntry } from '../../metering/stream-entry.ts';
import { allProtocols } from '../../protocols/index.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import { cuts, mutated, pieces } from './nasty-bytes.fixture.ts';
import * as samples from './samples.fixture.ts';

/** A parser of bytes that others wrote, and what holds for every input. */
export interface ParserProperty {
  readonly name: string;
  readonly property: fc.IRawProperty<unknown>;
}

/** A refusal that the error table has; anything else that a parser throws is a crash. */
function orRefused<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof RelayError && error.status === 400) return null;
    throw error;
  }
}

function demandCounts(usage: Partial<Usage> | null): void {
  if (usage === null) return;
  const { free: _free, serviceTier: _tier, ...counts } = usage;
  for (const value of Object.values(counts))
    assert.ok(Number.isSafeInteger(value) && value >= 0, String(value));
}

function readRequest(protocol: Protocol, bytes: Buffer): void {
  const body = orRefused(() => finish(protocol.request.parse(bytes)));
  if (body === null) return;
  const { free: _free, ...counts } = protocol.request.estimate(body, {
    outputTokens: 100,
    unseenInputTokens: 100,
  });
  for (const value of Object.values(counts)) assert.ok(value >= 0 && Number.isFinite(value), String(value));
  const upstream = Buffer.concat(protocol.request.forUpstream(body, 'upstream-model'));
  // Inside strings a large body is not looked at; a small one must come out as JSON with the other model.
  const sent = JSON.parse(upstream.toString()) as { model: unknown };
  assert.equal(sent.model, 'upstream-model');
  protocol.text?.ofRequest(JSON.parse(bytes.toString()));
}

function readAnswer(protocol: Protocol, bytes: Buffer): void {
  const { usage, sound } = finish(protocol.answer.read(bytes));
  demandCounts(usage);
  if (!sound || protocol.text === null) return;
  const answer = parsedOrNull(bytes);
  protocol.text.ofAnswer(answer);
  JSON.stringify(protocol.text.replace(answer, 'replaced'));
}

/** Sound is said of the structure; a parser is stricter about the inside of strings and the spelling of numbers. */
function parsedOrNull(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

/** Answers what a client may receive in the end, in this order: what was relayed, what was held back, the rest. */
function readStream(
  protocol: Protocol,
  bytes: Buffer,
  shares: readonly number[],
  dropUsage: boolean,
): string {
  const reader = new StreamReader(protocol.stream, dropUsage);
  const out: Buffer[] = [];
  // The connection of a stream that is refused is closed, so nothing follows.
  for (const piece of pieces(bytes, shares)) if (reader.phase !== 'refused') out.push(...reader.push(piece));
  const rest = reader.phase === 'refused' ? [] : reader.end();
  demandCounts(reader.usage);
  return Buffer.concat([...out, reader.takeHeld(), ...rest]).toString('latin1');
}

const { seed, publicKey } = newKeyPair();
const signed = await createContextSigner({ seed, clock: systemClock })(contextFor());
const verify = createContextVerifier({ publicKeys: [publicKey], clock: systemClock });
const minted = mintApiKey(randomBytes).key;
const organizationId = '0192f5a0-0000-7000-8000-00000000000a';
const requestList = { route: 'listRequests', organizationId } as const;
const rowId = '0192f5a0-0000-7000-8000-00000000000b';

async function refuseContext(bytes: Buffer): Promise<void> {
  const token = bytes.toString('latin1');
  // A signature is 64 bytes, so its last character has bits that decode to nothing.
  if (sameToken(token, signed)) return;
  await assert.rejects(verify(token), ContextRefusedError);
}

function sameToken(one: string, other: string): boolean {
  const decoded = (token: string) => {
    const [head, claims, signature = '', ...more] = token.split('.');
    return [head, claims, Buffer.from(signature, 'base64url').toString('hex'), ...more].join('.');
  };
  return decoded(one) === decoded(other);
}

function readCursor(text: string): void {
  const id = orRefused(() => idOfCursor(requestList, text));
  if (id !== null) assert.equal(cursorOfIds(requestList, id), text);
}

function readConfig(text: string): void {
  const { config, findings } = readConfigText(text, { references: 'in_file' });
  assert.ok(config !== null || findings.length > 0, 'a file without a fault and without a value');
  for (const { line, column } of findings) assert.ok(line >= 1 && column >= 1);
}

const ofEach = (name: string, texts: readonly string[], read: (protocol: Protocol, bytes: Buffer) => void) =>
  allProtocols.map((protocol) => ({
    name: `${name} of ${protocol.operation}`,
    property: fc.property(mutated(texts), (bytes) => read(protocol, bytes)),
  }));

const streams = allProtocols.map((protocol) => ({
  name: `streams of ${protocol.operation}`,
  property: fc.property(mutated(samples.streams), cuts, fc.boolean(), (bytes, shares, dropUsage) => {
    readStream(protocol, bytes, shares, dropUsage);
    // Without a frame to leave out, every byte comes out in its order, wherever the network cut the stream.
    const [came, sent] = [readStream(protocol, bytes, shares, false), bytes.toString('latin1')];
    assert.ok(sent.startsWith(came), 'the stream was changed');
  }),
}));

export const parserProperties: readonly ParserProperty[] = [
  ...ofEach('requests', samples.requests, readRequest),
  ...ofEach('responses', samples.responses, readAnswer),
  ...streams,
  {
    name: 'API keys',
    property: fc.property(mutated([minted]), (bytes) => {
      const text = bytes.toString();
      assert.ok(publicIdOf(text) === null || text === minted, text);
    }),
  },
  { name: 'contexts', property: fc.asyncProperty(mutated([signed]), refuseContext) },
  {
    name: 'cursors',
    property: fc.property(mutated([cursorOfIds(requestList, rowId)]), (bytes) =>
      readCursor(bytes.toString()),
    ),
  },
  {
    name: 'configuration files',
    property: fc.property(mutated(samples.configurations), (bytes) => readConfig(bytes.toString())),
  },
  {
    name: 'usage stream',
    property: fc.property(mutated(samples.records), fc.constantFrom('r', 'x', 'c', ''), (bytes, field) => {
      const { records } = readEntry({ id: '1-1', fields: [field, bytes.toString(), 'c', '0'] }, 0);
      for (const { record } of records) assert.equal(typeof record.requestId, 'string');
    }),
  },
  {
    name: 'base URLs',
    property: fc.property(mutated(samples.urls), (bytes) => {
      const target = parseTargetUrl(bytes.toString());
      if (typeof target === 'string') return;
      assert.match(target.origin, /^https?:\/\//);
      assert.ok(!/[@\s\\]/.test(target.hostname), target.hostname);
    }),
  },
  {
    name: 'Retry-After',
    property: fc.property(mutated(samples.retryAfters), fc.constantFrom(429, 503, 200), (bytes, status) => {
      const text = bytes.toString('latin1');
      const headers = {
        'retry-after': text,
        'x-ratelimit-reset-requests': text,
        'x-ratelimit-remaining-requests': '0',
      };
      const untilMs = cooldownUntilMs({ status, headers }, 1_000_000);
      assert.ok(untilMs === null || untilMs > 1_000_000, String(untilMs));
    }),
  },
];
