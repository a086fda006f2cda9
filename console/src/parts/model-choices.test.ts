import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelObject } from '@relay/contract';
import { choicesOf, namesIn, type Routing } from './model-choices.ts';

const listed = [
  { id: 'vectors', owned_by: 'relay' },
  { id: 'assistant', owned_by: 'relay' },
  { id: 'text-embedding', owned_by: 'openai' },
  { id: 'gpt', owned_by: 'openai' },
] as unknown as readonly ModelObject[];

const endpoint = (id: string, model: string, kind: string) => ({
  id,
  upstream_model: model,
  protocol: 'openai',
  route_kind: kind,
  enabled: true,
});

const routing = {
  endpoints: [endpoint('e1', 'text-embedding', 'embeddings'), endpoint('e2', 'gpt', 'chat')],
  lanes: [
    { id: 'l1', slug: 'vectors', enabled: true },
    { id: 'l2', slug: 'assistant', enabled: true },
    // Routing ignores it, so the name means the model.
    { id: 'l3', slug: 'gpt', enabled: false },
  ],
  memberships: [
    { lane_id: 'l1', endpoint_id: 'e1', enabled: true },
    { lane_id: 'l2', endpoint_id: 'e2', enabled: true },
    { lane_id: 'l2', endpoint_id: 'e1', enabled: false },
  ],
} as unknown as Routing;

test('an operation can be sent only to lanes and models with an endpoint that serves it', () => {
  const choicesFor = choicesOf(listed, routing);
  assert.deepEqual(namesIn(choicesFor('chat')), ['assistant', 'gpt']);
  assert.deepEqual(choicesFor('embeddings'), { lanes: ['vectors'], models: ['text-embedding'] });
});

test('without the routing every listed name can be chosen', () => {
  assert.equal(namesIn(choicesOf(listed, undefined)('chat')).length, listed.length);
});
