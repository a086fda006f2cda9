import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributionOf, teamsOf } from '../teams.ts';
import { budget, charged, chargesAt, organization, policy } from './limits.fixture.ts';
import { hasPolicies, type LimitedCaller, limitValues } from './limits.ts';

const teams = [
  { id: 'company', parentId: null },
  { id: 'search', parentId: 'company' },
  { id: 'ads', parentId: 'company' },
];
const members = [
  { userId: 'anne', role: 'developer', status: 'active', teamId: 'search' },
  { userId: 'ben', role: 'developer', status: 'active' },
] as const;
const teamPolicies = [
  budget('team', 'c', { subjectId: 'company' }),
  budget('team', 's', { subjectId: 'search' }),
  budget('team', 'a', { subjectId: 'ads' }),
];
const anne: LimitedCaller = { userId: 'anne', keyPolicies: [] };
const ben: LimitedCaller = { userId: 'ben', keyPolicies: [] };

describe('limits of teams', () => {
  const organized = organization([policy('r')], {
    teams,
    members,
    teamPolicies,
    userPolicies: [budget('user', 'u')],
  });

  it('apply to the team and its parent, between the shared limits and those of the member and key', () => {
    const keyPolicies = [budget('api_key', 'k')];
    assert.deepEqual(charged(organized, { ...anne, keyPolicies }, 'gpt', 'e1'), ['r', 'c', 's', 'u', 'k']);
  });

  it('follow the team of the key, and without one the team of its owner', () => {
    assert.deepEqual(charged(organized, { ...anne, keyTeamId: 'ads' }, 'gpt', 'e1'), ['r', 'c', 'a', 'u']);
    assert.deepEqual(charged(organized, { ...ben, keyTeamId: 'company' }, 'gpt', 'e1'), ['r', 'c']);
    assert.deepEqual(charged(organized, ben, 'gpt', 'e1'), ['r']);
    assert.deepEqual(charged(organized, anne, 'gpt', 'e1'), ['r', 'c', 's', 'u']);
  });

  it('no longer apply once the team of the key is deleted', () => {
    assert.deepEqual(charged(organized, { ...ben, keyTeamId: 'gone' }, 'gpt', 'e1'), ['r']);
    assert.deepEqual(charged(organized, { ...anne, keyTeamId: 'gone' }, 'gpt', 'e1'), ['r', 'c', 's', 'u']);
  });

  it('count the requests of the team and of those below it', () => {
    const counts = chargesAt(organized, anne, 'gpt', 'e1').map(({ policy: { counts } }) => counts.teamId);
    assert.deepEqual(counts, [undefined, 'company', 'search', undefined]);
  });

  it('are limits of whoever is in the team, and known by value', () => {
    const bare = organization([], { teams, members, teamPolicies });
    assert.ok(hasPolicies(bare, anne));
    assert.ok(!hasPolicies(bare, ben));
    assert.deepEqual([...limitValues(bare, []).keys()].toSorted(), ['a', 'c', 's']);
  });
});

describe('the team of a request', () => {
  const organized = organization([], { teams, members });

  it('is written down with its parent and the labels of the key', () => {
    const labels = { app: 'search' };
    assert.deepEqual(attributionOf(organized, { ...anne, labels }), {
      teamId: 'search',
      parentTeamId: 'company',
      labels,
    });
    assert.deepEqual(attributionOf(organized, { ...ben, keyTeamId: 'company' }), { teamId: 'company' });
    assert.deepEqual(attributionOf(organized, ben), {});
    assert.deepEqual(teamsOf(organized, ben), []);
  });
});
