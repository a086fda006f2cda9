import {
  anyText,
  exactly,
  id,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  openTo,
  time,
  url,
} from '../shape.ts';

// What every answer of the management interface carries, written down a second time: section 2 of the specification
// and what it leaves open. It is not taken from the contract on purpose: a slip there has to show here.
// Resources have files of their own; this one has what several of them use.

export const metric = oneOf('requests', 'tokens', 'spend', 'concurrency');
export const period = oneOf('second', 'minute', 'hour', 'day', 'week', 'month', 'none');
export const operation = oneOf('chat', 'responses', 'embeddings', 'messages', 'count_tokens');
export const health = oneOf('unknown', 'healthy', 'degraded', 'down', 'rate_limited');
export const maybeId = nullable(id);
export const maybeCount = nullable(integer);
export const maybeTime = nullable(time);
export const maybeText = nullable(anyText);
export const healthDetail = exactly({
  reason: maybeText,
  since: maybeTime,
  requests: integer,
  error_share: nullable(number),
  last_error: nullable(exactly({ at: time, message: anyText, status: maybeCount })),
});

export const ok = exactly({ ok: oneOf(true) });

/** Every error the service itself makes, and what some of them add. */
export const error = exactly({
  error: openTo(
    {
      issues: listOf(exactly({ path: anyText, message: anyText })),
      required_scopes: listOf(anyText),
      scopes: listOf(anyText),
      resource: anyText,
      id,
      plan: anyText,
      counted: anyText,
      limit: integer,
      retry_after: integer,
      // What a call has created whose repeat does not show the secret again.
      key: openTo({}, {}, 'any'),
      invitation: openTo({}, {}, 'any'),
      created: openTo({}, {}, 'any'),
      email_delivery: anyText,
    },
    { type: anyText, code: anyText, message: anyText, param: maybeText, request_id: id, doc_url: url },
  ),
});
