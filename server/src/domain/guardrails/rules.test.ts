import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkRules, judge, type ResponseRule, type RuleOperator } from './rules.ts';

function rule(path: string, operator: RuleOperator, value?: unknown): ResponseRule {
  return { path, operator, action: 'block', ...(value === undefined ? {} : { value }) };
}

const answer = {
  verdict: 'Unsafe content',
  nothing: null,
  score: 0.5,
  text: '0.9',
  labels: ['hate', { deep: [1] }],
  results: [{ flagged: false }, { flagged: true }],
};

describe('a rule matches when any selected value satisfies its operator', () => {
  const cases: readonly (readonly [ResponseRule, boolean])[] = [
    [rule('$.results[*].flagged', 'equals', true), true],
    [rule('$.results[*].flagged', 'equals', 'true'), false],
    [rule('$.labels[1]', 'equals', { deep: [1] }), true],
    [rule('$.results[*].flagged', 'not_equals', true), true],
    [rule('$.absent', 'not_equals', true), false],
    [rule('$.nothing', 'exists'), true],
    [rule('$.absent', 'exists'), false],
    [rule('$.absent', 'missing'), true],
    [rule('$.nothing', 'missing'), false],
    [rule('$.verdict', 'contains', 'UNSAFE'), true],
    [rule('$.labels', 'contains', 'hate'), true],
    [rule('$.labels', 'contains', { deep: [1] }), true],
    [rule('$.labels', 'contains', 'hat'), false],
    [rule('$.score', 'contains', 0.5), false],
    [rule('$.score', 'greater_than', 0.5), false],
    [rule('$.score', 'at_least', 0.5), true],
    [rule('$.score', 'less_than', 0.5), false],
    [rule('$.score', 'at_most', 0.5), true],
    [rule('$.text', 'greater_than', 0.5), false],
    [rule('not a path', 'missing'), false],
  ];
  for (const [each, matches] of cases) {
    it(`${each.path} ${each.operator} ${JSON.stringify(each.value)}: ${matches}`, () =>
      assert.equal(judge([each], answer) !== null, matches));
  }

  it('and the first of several decides', () => {
    const allow: ResponseRule = { path: '$.score', operator: 'exists', action: 'allow' };
    assert.equal(judge([rule('$.absent', 'exists'), allow, rule('$', 'exists')], answer), allow);
  });

  it('while an answer that says none of it decides nothing', () => {
    assert.equal(judge([rule('$.verdict', 'equals', 'allow')], { ok: true }), null);
    assert.equal(judge([], answer), null);
  });
});

describe('rules are refused at save', () => {
  const paramOf = (given: ResponseRule, preDispatch = false) =>
    checkRules([rule('$', 'exists'), given], { preDispatch })?.param;

  it('with a path that cannot be read', () => assert.equal(paramOf(rule('x', 'exists')), '[1].path'));
  it('with a value that is absent, not used, or no number', () => {
    assert.equal(paramOf(rule('$', 'equals')), '[1].value');
    assert.equal(paramOf(rule('$', 'missing', 1)), '[1].value');
    assert.equal(paramOf(rule('$', 'at_least', '1')), '[1].value');
    assert.equal(paramOf(rule('$', 'equals', null)), undefined);
  });
  it('with a replacement that is absent, not used, or asked for before there is an answer', () => {
    const replace: ResponseRule = { ...rule('$', 'exists'), action: 'replace' };
    assert.equal(paramOf(replace), '[1].replacement');
    assert.equal(paramOf({ ...rule('$', 'exists'), replacement: 'x' }), '[1].replacement');
    assert.equal(paramOf({ ...replace, replacement: 'x' }), undefined);
    assert.equal(paramOf({ ...replace, replacement: 'x' }, true), '[1].action');
  });
});
