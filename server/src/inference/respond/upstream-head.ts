import type { UpstreamHead } from '../exchange.ts';

/** Replaces the head until the provider has sent one. */
export const NO_HEAD: UpstreamHead = { status: 0, headers: {} };

export function isEventStream(head: UpstreamHead): boolean {
  return contentType(head).startsWith('text/event-stream');
}

/** Whether the body must be JSON: it says so, says nothing, or is the web page of a proxy in front of the provider. */
export function mustBeJson(head: UpstreamHead): boolean {
  const type = contentType(head);
  return type === '' || type.startsWith('application/json') || type.startsWith('text/html');
}

/** A stream can lose its usage frame or gain an error frame, so a length announced for it no longer holds. */
export function withoutLength(head: UpstreamHead): UpstreamHead {
  if (head.headers['content-length'] === undefined) return head;
  const { 'content-length': _announced, ...headers } = head.headers;
  return { status: head.status, headers };
}

/** Null for a body that is not encoded. */
export function encodingOf(head: UpstreamHead): string | null {
  const value = head.headers['content-encoding'];
  return typeof value !== 'string' || value === '' || value === 'identity' ? null : value;
}

function contentType(head: UpstreamHead): string {
  const value = head.headers['content-type'];
  return typeof value === 'string' ? value.toLowerCase() : '';
}
