import type { Sending } from './walk.ts';
import { nobody, type World } from './world.ts';

const LANES = '/api/relay/routing-lanes';
const lane = { name: 'Lane', default_max_wait_ms: 1, allow_fallback: true, enabled: true, takes_over: true };
const MIB = 1024 * 1024;

interface Case {
  readonly line: string;
  readonly answer: string;
  readonly sending?: Sending;
  /** What the `Allow` header has to list. */
  readonly allow?: string;
}

const typed = (type: string): Sending => ({ raw: JSON.stringify(lane), headers: { 'content-type': type } });

const cases: readonly Case[] = [
  { line: `POST ${LANES}`, answer: '400 invalid_json', sending: { raw: '{"name": "Lane",}' } },
  { line: `POST ${LANES}`, answer: '400 invalid_json', sending: { raw: "{'name': 'Lane'}" } },
  { line: `POST ${LANES}`, answer: '400 invalid_json', sending: { raw: '{"name": "La' } },
  { line: `POST ${LANES}`, answer: '400 invalid_json', sending: { raw: '' } },
  { line: `POST ${LANES}`, answer: '400 invalid_request', sending: { raw: '"text"' } },
  { line: `POST ${LANES}`, answer: '400 invalid_request', sending: { raw: 'null' } },
  { line: `POST ${LANES}`, answer: '400 invalid_request' },
  { line: `POST ${LANES}`, answer: '415 unsupported_media_type', sending: typed('text/plain') },
  {
    line: `POST ${LANES}`,
    answer: '415 unsupported_media_type',
    sending: typed('application/x-www-form-urlencoded'),
  },
  { line: `POST ${LANES}`, answer: '415 unsupported_media_type', sending: typed('application/jsonp') },
  { line: `POST ${LANES}`, answer: '201', sending: typed('application/json; charset=utf-8') },
  { line: `POST ${LANES}`, answer: '201', sending: typed('APPLICATION/JSON') },
  {
    line: `POST ${LANES}`,
    answer: '413 body_too_large',
    sending: { body: { ...lane, description: 'x'.repeat(MIB) } },
  },
  // As large as it may be, and refused for what it says.
  {
    line: `POST ${LANES}`,
    answer: '400 invalid_request',
    sending: { body: { ...lane, description: 'x'.repeat(MIB - 200) } },
  },
  { line: `PATCH ${LANES}`, answer: '405 method_not_allowed', allow: 'GET, HEAD, POST' },
  { line: `DELETE ${LANES}`, answer: '405 method_not_allowed', allow: 'GET, HEAD, POST' },
  { line: 'GET /api/relay/credentials/some-id', answer: '405 method_not_allowed', allow: 'DELETE, PUT' },
  { line: 'PUT /api/account', answer: '405 method_not_allowed', allow: 'GET, HEAD, PATCH' },
  { line: 'POST /api/relay/requests.csv', answer: '405 method_not_allowed', allow: 'GET, HEAD' },
  { line: 'GET /api', answer: '404 route_not_found' },
  { line: 'GET /api/', answer: '404 route_not_found' },
  { line: 'GET /api/relay/nothing', answer: '404 route_not_found' },
  { line: 'GET /api/relay/credentials/', answer: '200' },
  { line: 'GET /API/ACCOUNT', answer: '404 route_not_found' },
  { line: 'GET /v1/api/account', answer: '404 route_not_found' },
  { line: 'POST /api/relay/providers/some-id/nothing', answer: '404 route_not_found' },
];

/** What HTTP itself can get wrong. */
export async function tryTransport({ walk, callers }: World): Promise<void> {
  const [caller = nobody] = callers;
  for (const { line, answer, sending, allow } of cases) {
    const { summary, headers } = await walk.send(caller, line, sending);
    const said = JSON.stringify(sending ?? {}).slice(0, 100);
    if (summary !== answer) walk.fault(`${line} ${said} is ${summary} instead of ${answer}`);
    if (allow !== undefined && headers.get('allow') !== allow)
      walk.fault(`${line}: Allow is ${headers.get('allow')} instead of ${allow}`);
  }
}
