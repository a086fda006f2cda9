import { randomUUID } from 'node:crypto';
import type { Agent } from 'node:http';
import { headers as names, type RequestDetail } from '@relay/contract';
import type { ProviderSim, RequestLogEntry } from '@relay/provider-sim';
import type { AdminClient } from '../harness/admin-client.ts';
import { headersOf, pathOf, requestText, upstreamText } from '../harness/mode.ts';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { requestWhenLogged } from '../harness/request-log.ts';
import { type Cell, lastOf, mayOpen, openedCell, type Step, stepsOf, type Who } from './cells.ts';
import { causeOf } from './expectation.ts';
import type { Place } from './places.ts';
import { faultFor, withoutKey } from './quotes.ts';

export interface Matrix {
  readonly url: string;
  readonly apiToken: string;
  readonly admin: AdminClient;
  readonly agent: Agent;
  readonly providers: Readonly<Record<Who, ProviderSim>>;
  /** Returns what a provider would respond without a gateway. */
  readonly reference: ProviderSim;
  /** Where redirects lead. Nothing may arrive there. */
  readonly elsewhere: string;
  readonly placeOf: (cell: object) => Place;
  /** The names of all requests that were sent. */
  readonly sent: string[];
}

/** A request that a provider saw. */
interface Arrival {
  readonly who: Who;
  readonly entry: RequestLogEntry;
}

/** The observations of one cell. */
export interface Seen {
  /** As it went. */
  readonly cell: Cell;
  readonly steps: readonly [Step, ...Step[]];
  readonly place: Place;
  readonly answer: RawAnswer;
  /** The provider's response as the client should get it; null if the response is Relay's. */
  readonly said: RawAnswer | null;
  /** In order. */
  readonly arrivals: readonly Arrival[];
  readonly detail: RequestDetail;
  readonly clientRequestId: string;
}

/** None of these words is in an address that a redirect leads to: Relay keeps no text that repeats the request. */
export const WORDS = 'What is the weather in Lisbon tomorrow?';
/** After a silence of this length a reference that stalls has nothing more to say; shorter than any cell's deadline. */
const REFERENCE_SILENCE_MS = 1_000;

export async function runCell(matrix: Matrix, given: Cell): Promise<Seen> {
  const { row, mode } = given;
  const { providers, url, apiToken, agent, admin } = matrix;
  const place = matrix.placeOf(given);
  const clientRequestId = randomUUID();
  matrix.sent.push(clientRequestId);
  const { key } = place.first;
  if (Object.keys(row.fault).length > 0)
    providers.first.script({ match: { key }, fault: faultFor(row.fault, key, matrix.elsewhere) });
  const [, second] = stepsOf(given);
  if (second?.who === 'second' && 'status' in second.expectation) {
    const fault = faultFor({ status: second.expectation.status ?? 200 }, place.second.key, matrix.elsewhere);
    providers.second.script({ match: { key: place.second.key }, fault });
  }
  const answer = await exchangeRaw({
    url: `${url}/v1${pathOf(mode)}`,
    headers: {
      authorization: `Bearer ${apiToken}`,
      'x-request-id': clientRequestId,
      ...headersOf(mode),
      ...row.requestHeaders,
    },
    body: requestText(mode, place.lane.name, WORDS),
    agent,
  });
  const isOpen = answer.status === 200 && answer.headers[names.errorSource.toLowerCase()] === undefined;
  const cell = mayOpen(given) && isOpen ? openedCell(given) : given;
  const steps = stepsOf(cell);
  const said = await referenceAnswer(matrix, cell, place);
  const detail = await requestWhenLogged(admin, { requestId: answer.headers['x-request-id'] ?? '' });
  const arrivals = arrivalsAt(matrix, place);
  return { cell, steps, place, answer, said, arrivals, detail, clientRequestId };
}

export function arrivalsAt({ providers }: Matrix, place: Place): Arrival[] {
  const found = (['first', 'second'] as const).flatMap((who) =>
    providers[who].log.filter(({ key }) => key === place[who].key).map((entry) => ({ who, entry })),
  );
  return found.sort((a, b) => a.entry.receivedMonotonicMs - b.entry.receivedMonotonicMs);
}

/** The same request with the same fault, asked of a provider directly: what the client should get, byte for byte. */
async function referenceAnswer(
  { reference, elsewhere }: Matrix,
  cell: Cell,
  place: Place,
): Promise<RawAnswer | null> {
  const { row, mode } = cell;
  const steps = stepsOf(cell);
  const { who, expectation } = lastOf(steps);
  if (expectation.kind === 'lost' || expectation.kind === 'rejected') return null;
  const { key, upstreamModel } = place[who];
  const referenceKey = `reference-${randomUUID()}`;
  // What comes after the row's own fault is an answer, or an error of a known status.
  const fault = steps.length === 1 ? row.fault : causeOf(expectation) === null ? {} : { status: 503 };
  reference.script({ match: { key: referenceKey }, fault: faultFor(fault, key, elsewhere) });
  const answer = await exchangeRaw({
    url: `${reference.baseUrl}${pathOf(mode)}`,
    headers: { authorization: `Bearer ${referenceKey}`, connection: 'close', ...headersOf(mode) },
    body: upstreamText(mode, upstreamModel, WORDS),
    ...(row.fault.stallAfterFrames === undefined ? {} : { silenceMsMax: REFERENCE_SILENCE_MS }),
  });
  return withoutKey(answer, key);
}
