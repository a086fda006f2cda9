import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkTemplate, fillTemplate, type TemplateValues } from './template.ts';

const values: TemplateValues = {
  text: 'say "hi" {{model}}\n"}',
  stage: 'pre_dispatch',
  operation: 'chat',
  model: 'gpt',
  lane: 'fast',
  requestId: 'r1',
  messages: [{ role: 'user', content: 'hi' }],
  body: { model: 'gpt', n: 1 },
};

describe('a template', () => {
  it('is filled in values, and what a value holds neither breaks out nor is filled again', () => {
    const template = {
      input: '<{{text}}>',
      at: ['{{ stage }}/{{operation}}', 7, null],
      id: '{{request_id}}{{lane}}',
    };
    assert.deepEqual(fillTemplate(template, values), {
      input: `<${values.text}>`,
      at: ['pre_dispatch/chat', 7, null],
      id: 'r1fast',
    });
  });

  it('takes messages and body as JSON where they are the whole string', () => {
    assert.deepEqual(fillTemplate({ a: '{{messages}}', b: { c: '{{body}}' } }, values), {
      a: values.messages,
      b: { c: values.body },
    });
  });

  it('keeps a member that is called as the prototype is', () => {
    const template = JSON.parse('{"__proto__": "{{model}}"}') as Record<string, unknown>;
    assert.equal(JSON.stringify(fillTemplate(template, values)), '{"__proto__":"gpt"}');
  });

  const refused: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['an unknown name', { a: [{ b: 'x {{secret}}' }] }, '.a[0].b'],
    ['messages among other text', { a: 'x {{messages}}' }, '.a'],
    ['a name that is not closed', { a: '{{text}' }, '.a'],
    ['an empty name', { a: '{{}}' }, '.a'],
    ['a name in the place of a member', { 'x{{text}}': 1 }, '.x{{text}}'],
  ];
  for (const [what, template, param] of refused) {
    it(`is refused with ${what}`, () => assert.equal(checkTemplate(template)?.param, param));
  }

  it('is accepted with every known name, and with braces that are none', () => {
    const template = {
      a: '{{text}}{{stage}}{{operation}}{{model}}{{lane}}{{request_id}}',
      b: '{{messages}}',
      c: '{{body}}',
      d: '{ "x": {} }',
    };
    assert.equal(checkTemplate(template), null);
  });
});
