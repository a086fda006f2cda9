import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoint, lane, provider, snapshot } from '../snapshot.fixture.ts';
import type { Endpoint, Lane } from '../snapshot.ts';
import type { NamedLane, NameSources } from './callable-names.ts';
import { changedNames, takenNames } from './changed-names.ts';

const providers = new Map([provider('openai'), provider('router')].map((each) => [each.id, each]));

function sources(lanes: readonly NamedLane[], endpoints: readonly Endpoint[] = []): NameSources {
  const byId = <T extends { readonly id: string }>(rows: readonly T[]) =>
    new Map(rows.map((row) => [row.id, row]));
  return { lanes: byId(lanes), endpoints: byId(endpoints), providers };
}

const mini = endpoint('mini', 'openai', 'gpt-mini');
const fast = lane('fast', { name: 'Fast' });
const second = (over: Partial<Lane> = {}) => lane('second', { name: 'Second', ...over });

function said(before: NameSources, after: NameSources): string[] {
  return changedNames(before, after).map(({ kind, name, before: from, after: to }) =>
    [kind, name, from, to].join(', '),
  );
}

describe('the callable names that a write changes', () => {
  it('are none of a lane, an endpoint or a rename with names of its own', () => {
    assert.deepEqual(said(sources([fast]), sources([fast, second()])), []);
    assert.deepEqual(said(sources([fast]), sources([lane('fast', { name: 'Faster' })])), []);
    assert.deepEqual(said(sources([fast]), sources([fast], [mini])), []);
    assert.deepEqual(said(sources([], [mini]), sources([], [mini, endpoint('b', 'router', 'gpt-mini')])), []);
  });

  it('are the name of a lane that another lane gets', () => {
    const after = sources([fast, second({ name: 'Fast', slug: 'fast-2' })]);
    assert.deepEqual(said(sources([fast]), after), [
      'taken, Fast, lane fast, lane second',
      'alike, fast, lane fast, lane second',
    ]);
  });

  it('are names that differ from a new one in case or white space alone', () => {
    for (const name of ['FAST', ' Fast', 'fast\t']) {
      const after = sources([fast, second({ name })]);
      assert.deepEqual(said(sources([fast]), after), [
        'alike, Fast, lane fast, lane second',
        'alike, fast, lane fast, lane second',
      ]);
    }
  });

  it('include a slug that keeps its lane though another lane has it as its name', () => {
    const first = lane('first', { name: 'First', slug: 'fast-2' });
    const after = sources([first, second({ name: 'fast-2' })]);
    assert.deepEqual(said(sources([first]), after), ['alike, fast-2, lane first, lane second']);
  });

  it('are those of a model that a lane takes, unless the lane may, or nothing enabled serves it', () => {
    const taking = (over: Partial<NamedLane>) => ({ ...second({ name: 'gpt-mini' }), ...over });
    const before = sources([], [mini]);
    assert.deepEqual(said(before, sources([taking({})], [mini])), [
      'taken, gpt-mini, model gpt-mini, lane second',
    ]);
    assert.deepEqual(said(before, sources([taking({ shadowsModel: true })], [mini])), []);
    const off = endpoint('mini', 'openai', 'gpt-mini', { enabled: false });
    assert.deepEqual(said(sources([], [off]), sources([taking({})], [off])), []);
  });

  it('are those of a lane that a model comes to differ from in case or white space alone, unless the lane may', () => {
    const named = second({ name: 'gpt-MINI', slug: 'gpt-mini' });
    for (const model of ['GPT-mini', ' gpt-mini', 'gpt-mini\t']) {
      const served = endpoint('like', 'openai', model);
      assert.deepEqual(said(sources([named]), sources([named], [served])), [
        `alike, gpt-MINI, lane second, model ${model}`,
        `alike, gpt-mini, lane second, model ${model}`,
      ]);
      const off = { ...served, enabled: false };
      assert.deepEqual(said(sources([named]), sources([named], [off])), []);
      assert.equal(said(sources([named], [off]), sources([named], [served])).length, 2);
      const allowed = { ...named, shadowsModel: true };
      assert.deepEqual(said(sources([allowed]), sources([allowed], [served])), []);
      const again = endpoint('again', 'router', model);
      assert.deepEqual(said(sources([named], [served]), sources([named], [served, again])), []);
    }
    const slashed = second({ name: 'OpenAI/GPT-mini' });
    assert.deepEqual(said(sources([slashed]), sources([slashed], [mini])), [
      'alike, OpenAI/GPT-mini, lane second, provider_model openai/gpt-mini',
    ]);
  });

  it('are not those of a model that differs from another in case alone', () => {
    assert.deepEqual(said(sources([], [mini]), sources([], [mini, endpoint('b', 'openai', 'GPT-mini')])), []);
  });

  it('are not those that a lane keeps when an endpoint comes to serve a model of that name', () => {
    const named = second({ name: 'gpt-mini' });
    assert.deepEqual(said(sources([named]), sources([named], [mini])), []);
  });

  it('are those of a model that another provider’s slug and model spell too', () => {
    const routed = endpoint('routed', 'router', 'openai/gpt-mini');
    assert.deepEqual(said(sources([], [routed]), sources([], [routed, mini])), [
      'taken, openai/gpt-mini, model openai/gpt-mini, provider_model openai/gpt-mini',
    ]);
    assert.deepEqual(said(sources([], [routed, mini]), sources([], [routed])), [
      'taken, openai/gpt-mini, provider_model openai/gpt-mini, model openai/gpt-mini',
    ]);
  });

  it('are those that fall to another lane or a model when their lane ends, and none that end with it', () => {
    const shadowing = second({ name: 'gpt-mini' });
    assert.deepEqual(said(sources([shadowing], [mini]), sources([], [mini])), [
      'taken, gpt-mini, lane second, model gpt-mini',
    ]);
    const off = { ...shadowing, enabled: false };
    assert.equal(said(sources([shadowing], [mini]), sources([off], [mini])).length, 1);
    assert.deepEqual(said(sources([fast]), sources([])), []);
  });

  it('are no names of duplicates that exist and stay as they are', () => {
    const twin = second({ name: 'Fast' });
    const [before, after] = [sources([fast, twin]), sources([fast, twin, lane('third')])];
    assert.deepEqual(said(before, after), []);
  });

  it('between two snapshots are those that something else takes', () => {
    const before = snapshot({ lanes: [fast] });
    const after = snapshot({ lanes: [fast, second({ name: 'Fast' })] });
    const between = takenNames(before, after);
    assert.deepEqual(
      between.map(({ name }) => name),
      ['Fast'],
    );
  });
});
