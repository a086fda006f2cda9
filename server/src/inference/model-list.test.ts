import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { namesNothing } from './model-list.ts';

const models = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];

describe('a name that nothing has', () => {
  it('is answered with names that can be called, lanes first, and how many more there are', () => {
    const configured = snapshot({
      providers: [provider('p', { authMode: 'none' })],
      endpoints: models.map((model) => endpoint(model, 'p', model)),
      lanes: [lane('chat'), lane('secret', { hidden: true })],
      memberships: [member('chat', 'm1', 0), member('secret', 'm1', 0)],
    });
    const message = namesNothing(configured, 'openai', 'nope');
    const words = 'You can call chat, m1, m2, m3, m4 and 2 more (GET /v1/models).';
    assert.equal(message, `No lane or model is named "nope". ${words}`);
  });

  it('leads to a first lane where there is nothing to call', () => {
    assert.match(
      namesNothing(snapshot({}), 'openai', 'x'.repeat(9_000)),
      /^.{200,300}create a lane with an endpoint\.$/,
    );
  });
});
