import { type ErrorCode, errors, isErrorCode, headers as names } from '@relay/contract';
import { BODY_BYTES_MAX } from '../../harness/hosted-deployment.ts';
import type { Answer } from '../answer.ts';
import { CHAT, contents, header, type Scene } from './scene.ts';
import { odd, type Situation } from './situations.ts';

const pages = new Map<string, Promise<string>>();

/** Sends the situation; returns how the answer, and what reached the provider, differ from what is expected. */
export async function checkSituation(scene: Scene, situation: Situation): Promise<string[]> {
  const { provider } = scene.world.deployment;
  const before = provider.log.length;
  const guarded = scene.guarded();
  const answer = await sendSituation(scene, situation);
  const faults = faultsOf(scene, situation, answer);
  const { asked = answer.status === 200 ? 1 : 0 } = situation;
  const reached = provider.log.length - before;
  if (reached !== asked) faults.push(`${reached} requests reached the provider, not ${asked}`);
  const isGuarded = situation.model === 'guarded' && answer.status === 200;
  if (isGuarded && scene.guarded() === guarded) faults.push('no guardrail was asked');
  const [status = '', code = ''] = situation.answer.split(' ');
  if (isErrorCode(code) && header(answer, names.errorSource) === 'relay')
    faults.push(...(await ownErrorFaults(answer, code, situation)));
  else if (status === '422' && answer.text !== odd(422)) faults.push('the body has changed');
  return faults.map((fault) => `${situation.name}: ${fault}: ${answer.summary} ${answer.text.slice(0, 160)}`);
}

function sendSituation({ world: { walk, client } }: Scene, situation: Situation): Promise<Answer> {
  const { model = 'plain', path = CHAT, method = 'POST', body, raw, headers = {}, fault } = situation;
  const sim = fault === undefined ? {} : { sim: fault };
  const isInference = method === 'POST' && contents[path] !== undefined;
  return walk.send(client, `${method} ${path}`, {
    headers,
    ...(raw === undefined ? {} : { raw }),
    ...(isInference && raw === undefined ? { body: { model, ...contents[path], ...sim, ...body } } : {}),
  });
}

function faultsOf({ lanes, world }: Scene, situation: Situation, answer: Answer): string[] {
  const faults: string[] = [];
  if (answer.summary !== situation.answer) faults.push(`not ${situation.answer}`);
  // What the platform refuses by itself has no overhead of inference.
  const hasOverhead = /^\d+\.\d\d$/.test(header(answer, names.overheadMs));
  if (!hasOverhead && !world.walk.mode.hosted) faults.push('the overhead is missing');
  for (const [name, wanted] of Object.entries(situation.expected ?? {})) {
    const value = answer.headers.get(name);
    const fits = wanted instanceof RegExp ? wanted.test(value ?? '') : value === wanted;
    if (!fits) faults.push(`${name} is ${value}`);
  }
  if (situation.chosen !== undefined) {
    const [endpoint, fallbacks] = situation.chosen;
    const wanted = [lanes[situation.model ?? '']?.endpointIds[endpoint], String(fallbacks)].join();
    const came = [header(answer, names.selectedEndpointId), header(answer, names.fallbackCount)].join();
    if (came !== wanted) faults.push(`endpoint and fallbacks are ${came}, not ${wanted}`);
  }
  return faults;
}

/** What the harness cannot know of an error: its type, its field, its words, and that its page is there. */
async function ownErrorFaults(
  answer: Answer,
  code: ErrorCode,
  { param, says }: Situation,
): Promise<string[]> {
  const { error } = answer.body as { error: Record<string, unknown> };
  const message = String(error['message']);
  const faults: string[] = [];
  if (error['type'] !== errors[code].type) faults.push(`the type is ${String(error['type'])}`);
  if (error['param'] !== (param ?? null)) faults.push(`the field is ${String(error['param'])}, not ${param}`);
  if (message.length <= 20) faults.push('the message says too little');
  if (answer.status === 502 && /sk-|\/v1/.test(message)) faults.push('the message says too much');
  if (says !== undefined && !says.test(message)) faults.push(`the message does not say ${says}`);
  if (header(answer, names.shouldRetry) !== String(errors[code].retry))
    faults.push('x-should-retry is wrong');
  if (code === 'body_too_large' && error['limit_bytes'] !== BODY_BYTES_MAX)
    faults.push(`the limit is ${String(error['limit_bytes'])}`);
  const seconds = error['retry_after'];
  if (answer.status === 429 && String(seconds) !== header(answer, names.retryAfter))
    faults.push(`retry_after is ${String(seconds)}`);
  const url = String(error['doc_url']);
  if (!pages.has(url))
    pages.set(
      url,
      fetch(url).then((page) => page.text()),
    );
  if (!(await pages.get(url))?.includes(code)) faults.push(`${url} does not describe it`);
  return faults;
}
