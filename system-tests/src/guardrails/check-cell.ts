import assert from 'node:assert/strict';
import type { GuardrailLogEntry } from '@relay/provider-sim';
import type { Guard, Said } from './cell.ts';
import { guardrailSlug, UPSTREAM_MODEL } from './config.ts';
import type { CellResult } from './run-cell.ts';
import type { Site } from './site.ts';

/** Throws at the first difference from the table. */
export function checkCell(site: Site, result: CellResult): void {
  checkProvider(result);
  checkAnswer(site, result);
  checkAsked(result);
  checkRecord(site, result);
}

/** How many of its requests the provider saw though it must not have, and answers a client got though it must not have. */
export function leaksOf({ cell, seen, answer, asked }: CellResult): number {
  const { dispatches, refusedBy, replacement } = cell.expected;
  const tooMany = Math.max(0, seen.length - dispatches);
  const withheld = refusedBy?.stage === 'post_response' || replacement !== undefined;
  const shown = asked.flat().filter(({ body }) => (body as AskedBody).stage === 'post_response');
  const words = shown.map(({ body }) => String((body as AskedBody).text)).filter((text) => text !== '');
  const leaked = withheld && words.some((text) => answer.body.toString().includes(text));
  return tooMany + (leaked ? 1 : 0);
}

interface AskedBody {
  readonly text?: string;
  readonly stage?: string;
  readonly operation?: string;
  readonly model?: string;
  readonly request_id?: string;
}

function checkProvider({ cell, seen }: CellResult): void {
  assert.equal(seen.length, cell.expected.dispatches, 'requests the provider saw');
  for (const entry of seen) {
    assert.deepEqual(entry.violations, []);
    assert.equal(entry.model, UPSTREAM_MODEL);
  }
}

function checkAnswer(site: Site, { place, cell, answer, record, words }: CellResult): void {
  const { status, code, param, refusedBy, replacement } = cell.expected;
  const text = answer.body.toString();
  assert.equal(answer.status, status, text);
  assert.equal(answer.whole, true);
  if (code === null) {
    if (cell.streaming) assert.match(text, /data: /);
    else if (replacement === undefined) assert.ok(contentOf(cell.operation, text).length > 0, text);
    else assert.deepEqual(textsOf(cell.operation, text), [replacement]);
    return;
  }
  const { error } = JSON.parse(text) as { error: Record<string, unknown> };
  assert.equal(error['code'], code);
  if (param !== undefined) assert.equal(error['param'], param);
  if (refusedBy === undefined) return;
  assert.equal(error['guardrail_id'], site.guardrailIds.get(guardrailSlug(place, refusedBy.guard)));
  assert.equal(error['stage'], refusedBy.stage);
  assert.equal(error['request_id'], record.request_id);
  assert.equal(answer.headers['retry-after'], status === 503 ? '1' : undefined);
  assert.ok(!text.includes(words), 'a refusal repeats what was said');
}

/** Each guardrail hears of each of its stages once at most, and nothing after the one that ended it. */
function checkAsked({ place, cell, asked, record, words }: CellResult): void {
  for (const [index, guard] of cell.guards.entries()) {
    const entries = asked[index] ?? [];
    if (!isHeard(guard)) continue;
    const heard = cell.expected.said.filter((said) => said.guard === index && wasSent(guard, said));
    assert.equal(entries.length, heard.length, `times the guardrail ${index} was asked`);
    for (const [at, entry] of entries.entries()) {
      assert.deepEqual(entry.violations, []);
      checkShown(entry, { place, operation: cell.operation, requestId: record.request_id });
      const { text, stage } = entry.body as AskedBody;
      assert.equal(stage, heard[at]?.stage);
      if (stage === 'pre_dispatch' && cell.request === undefined) assert.equal(text, words);
      if (stage === 'post_response') assert.ok(!text?.includes(words));
    }
  }
}

/** The log of the simulator tells cells apart by the address, which a service and a closed port do not have. */
function isHeard({ behaviour }: Guard): boolean {
  return behaviour !== 'refused' && !behaviour.startsWith('service ');
}

/** More than a guardrail takes is not sent to it. */
function wasSent({ more }: Guard, { cause }: Said): boolean {
  return !(cause === 'too_large' && more?.['max_request_bytes'] !== undefined);
}

function checkShown(
  { body, headers }: GuardrailLogEntry,
  cell: { place: string; operation: string; requestId: string },
): void {
  const { operation, model, request_id } = body as AskedBody;
  assert.deepEqual(
    { operation, model, request_id },
    { operation: cell.operation, model: cell.place, request_id: cell.requestId },
  );
  assert.equal(headers.authorization, undefined);
}

function checkRecord(site: Site, { place, cell, record, answer, words, seen }: CellResult): void {
  const { status, code, said, dispatches, refusedBy, skippedParts } = cell.expected;
  assert.equal(record.state, status === 200 ? 'completed' : 'failed');
  assert.equal(record.http_status, status);
  if (status === 200) assert.equal(record.error_code, null);
  else if (refusedBy !== undefined || dispatches === 0) assert.equal(record.error_code, code);
  assert.deepEqual(
    record.guardrails.map(({ latency_ms: _, ...each }) => each),
    said.map(({ guard, stage, verdict, cause }) => ({
      guardrail_id: site.guardrailIds.get(guardrailSlug(place, guard)),
      stage,
      verdict,
      cause,
      skipped_parts: skippedParts ?? null,
    })),
  );
  assert.equal(record.timings.guard_ms === null, said.length === 0, `guard_ms is ${record.timings.guard_ms}`);
  assert.equal(record.attempts.length, dispatches);
  if (dispatches === 0) assert.equal(record.usage_source, 'none');
  const last = seen.at(-1);
  // The provider worked, whatever became of its answer.
  if (last !== undefined && last.status === 200 && last.reportedUsage !== null && !cell.streaming) {
    assert.equal(record.usage_source, 'reported');
    assert.equal(record.input_tokens, last.reportedUsage.promptTokens);
  }
  assert.ok(!JSON.stringify(record).includes(words), 'the record has what was said');
  assert.equal(record.request_id, answer.headers['x-request-id']);
}

/** Everything that a client would read out of an answer. */
function contentOf(operation: string, text: string): string {
  if (operation === 'embeddings') return text;
  return textsOf(operation, text).join('');
}

function textsOf(operation: string, text: string): string[] {
  const answer = JSON.parse(text) as {
    choices?: { message: { content: string | null; tool_calls?: unknown } }[];
    output?: { type: string; content?: { text: string }[]; arguments?: string }[];
  };
  if (operation === 'chat') {
    return (answer.choices ?? []).map(({ message }) => {
      const calls = message.tool_calls === undefined ? '' : JSON.stringify(message.tool_calls);
      return `${message.content ?? ''}${calls}`;
    });
  }
  return (answer.output ?? []).flatMap((item) => [
    ...(item.content ?? []).map((part) => part.text),
    ...(item.arguments === undefined ? [] : [item.arguments]),
  ]);
}
