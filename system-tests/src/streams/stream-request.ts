import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { ClientSetup } from './client-jobs.ts';

/** The body of a stream whose every frame can be told from every other. */
export function streamBody(model: string, sim: Readonly<Record<string, unknown>>): string {
  const messages = [{ role: 'user', content: 'Count.' }];
  return JSON.stringify({ model, stream: true, messages, sim });
}

export function requestHeaders(setup: ClientSetup, tag: string): Record<string, string> {
  return {
    authorization: `Bearer ${setup.token}`,
    'content-type': 'application/json',
    'x-request-id': tag,
  };
}

/** Opens a stream on a connection of its own. */
export function openStream(
  setup: ClientSetup,
  tag: string,
  sim: Readonly<Record<string, unknown>>,
  onResponse: (response: IncomingMessage) => void,
  onError: (error: Error) => void,
): ClientRequest {
  const sending = request(`${setup.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: requestHeaders(setup, tag),
  });
  sending.on('response', onResponse);
  sending.on('error', onError);
  sending.end(streamBody(setup.model, { ...sim, tag }));
  return sending;
}
