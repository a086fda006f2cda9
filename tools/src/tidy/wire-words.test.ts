import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeOf } from './tree.ts';
import { wireWords } from './wire-words.ts';

test('protocols, the schema, tests, fixtures and other members may name operations', () => {
  const tree = treeOf({
    'server/src/protocols/openai-chat/index.ts': "operation: 'chat', image: 'image_url'",
    'server/src/store/postgres/schema.ts': "const SUMMED: Operation = 'embeddings';",
    'server/src/inference/pipeline.test.ts': "send('/v1/chat/completions')",
    'server/src/inference/gateway.fixture.ts': "operation: 'chat'",
    'server/src/management/guardrails/stats-queries.ts': 'sum(requests_embeddings) as embeddings',
    'contract/src/resources/values.ts': "oneOf(['chat', 'responses', 'embeddings'])",
  });
  assert.deepEqual(wireWords(tree), []);
});

for (const [what, text] of [
  ['an operation', "if (operation === 'embeddings') return;"],
  ['a path', 'const path = `/v1/chat/completions`;'],
  ['a member', "const cap = body['max_completion_tokens'];"],
] as const) {
  test(`${what} in any other module is refused with its line`, () => {
    const found = wireWords(treeOf({ 'server/src/kit/json-members.ts': `const a = 1;\n${text}` }));
    assert.deepEqual(
      found.map(({ line }) => line),
      [2],
    );
  });
}
