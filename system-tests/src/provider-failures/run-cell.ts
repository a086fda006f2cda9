import type { RequestDetail } from '@relay/contract';
import { modes, pathOf, requestText } from '../harness/mode.ts';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { readRequest } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import type { Cell, Who } from './cells.ts';
import { errorBody, nastyFault, steeringHeaders, tellsOf } from './key-quotes.ts';
import type { Place, Site } from './site.ts';

/** What a cell saw. */
export interface Seen {
  readonly place: Place;
  readonly answer: RawAnswer;
  /** Who was asked, in the order in which the requests arrived. */
  readonly asked: readonly Who[];
  readonly detail: RequestDetail;
  /** Where something of a key, or a header that steers, reached the client or the request log. */
  readonly leaks: readonly string[];
}

const ROW_MS_MAX = 15_000;
const WITHHELD = Object.keys(steeringHeaders('', '')).filter((name) => name !== 'openai-version');

export async function runCell(site: Site, cell: Cell): Promise<Seen> {
  const { row, second, streaming } = cell;
  const place = site.places.get(cell);
  if (place === undefined) throw new Error(`${cell.name} has no place`);
  const { first, second: next } = place.endpoints;
  const target = `${site.elsewhere.baseUrl}/chat/completions`;
  if (row.place === undefined)
    site.providers.first.script({ match: { key: first.key }, fault: nastyFault(row, first.key, target) });
  if (second !== null && 'status' in second && second.status !== null) {
    const fault = {
      status: second.status,
      body: errorBody(next.key),
      headers: steeringHeaders(next.key, target),
    };
    site.providers.second.script({ match: { key: next.key }, fault });
  }
  const mode = streaming ? modes['chat stream'] : modes.chat;
  const answer = await exchangeRaw({
    url: `${site.deployment.url}/v1${pathOf(mode)}`,
    headers: { authorization: `Bearer ${site.deployment.apiToken}`, 'accept-encoding': 'gzip' },
    body: requestText(mode, place.lane, 'What is the weather in Lisbon tomorrow?'),
    agent: site.agent,
  });
  const requestId = answer.headers['x-request-id'] ?? '';
  const detail = await rowOf(site, requestId);
  return { place, answer, asked: askedAt(site, place), detail, leaks: leaksOf(place, answer, detail) };
}

async function rowOf({ deployment }: Site, requestId: string): Promise<RequestDetail> {
  const found: RequestDetail[] = [];
  await until(async () => {
    const detail = await readRequest(deployment.admin, requestId);
    if (detail !== null) found.push(detail);
    return detail !== null;
  }, ROW_MS_MAX);
  if (found[0] === undefined) throw new Error(`no row for ${requestId} within ${ROW_MS_MAX} ms`);
  return found[0];
}

function askedAt({ providers }: Site, { endpoints }: Place): Who[] {
  const entries = (['first', 'second'] as const).flatMap((who) =>
    providers[who].log
      .filter(({ key }) => key === endpoints[who].key)
      .map(({ receivedMonotonicMs }) => ({ who, receivedMonotonicMs })),
  );
  return entries.sort((a, b) => a.receivedMonotonicMs - b.receivedMonotonicMs).map(({ who }) => who);
}

function leaksOf({ endpoints }: Place, answer: RawAnswer, detail: RequestDetail): string[] {
  const leaks = WITHHELD.filter((name) => answer.headers[name] !== undefined).map((name) => `header ${name}`);
  const places = {
    headers: JSON.stringify(answer.headers),
    body: answer.body.toString(),
    log: JSON.stringify(detail),
  };
  for (const [where, text] of Object.entries(places)) {
    for (const { key } of Object.values(endpoints))
      if (tellsOf(text, key)) leaks.push(`a key in the ${where}`);
  }
  return leaks;
}
