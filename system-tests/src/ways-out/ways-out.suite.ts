import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import { type Send, sendPlainly } from './requests.ts';
import { enrol, type Proofs, type Site, startSite, stopSite } from './site.ts';
import { type State, states } from './states.ts';
import { checkTokens } from './tokens.ts';
import { type Found, walk } from './walk.ts';

// A machine is put into every state that an account, its membership, its invitation and the organization can be in. It sends what
// a person there would send, and does whatever the answers tell it to do, until it is an active member.

const STATES_MIN = 150;
const found: Found = { states: 0, advice: 0, stuck: [], falseAdvice: [] };
let hosted: Site;
let selfHosted: Site;
let proofs: Proofs;

before(async () => {
  [hosted, selfHosted] = await Promise.all([startSite('hosted'), startSite('self_hosted')]);
  proofs = await enrol(hosted);
});
after(async () => {
  await Promise.all([hosted, selfHosted].map((site) => site && stopSite(site)));
  const { stuck, falseAdvice } = found;
  reportFigures({ ...found, stuck: stuck.length, falseAdvice: undefined, false_advice: falseAdvice.length });
});

function siteOf({ mode }: State): Site {
  return mode === 'hosted' ? hosted : selfHosted;
}

describe('from every state of an account', () => {
  for (const mode of ['hosted', 'self_hosted'] as const) {
    it(`${mode}: a request leads to an active membership, and every answer’s advice works`, async () => {
      const some = states.filter((state) => state.mode === mode);
      const site = mode === 'hosted' ? hosted : selfHosted;
      const [stuck, falseAdvice] = [found.stuck.length, found.falseAdvice.length];
      await walk(site, proofs, some, sendPlainly, found);
      assert.deepEqual(found.stuck.slice(stuck), []);
      assert.deepEqual(found.falseAdvice.slice(falseAdvice), []);
    });
  }

  it('there are enough of them', () => {
    assert.ok(found.states >= STATES_MIN, `${found.states} states`);
  });

  it('a dead end that was planted is found', async () => {
    const planted: Found = { states: 0, advice: 0, stuck: [], falseAdvice: [] };
    const removed = states.filter(
      ({ account, membership, invitation, organization }) =>
        account === 'unverified' &&
        membership === 'removed' &&
        invitation === 'open' &&
        organization === 'open',
    );
    assert.equal(removed.length, 2);
    for (const state of removed) await walk(siteOf(state), proofs, [state], sendThroughDeadEnd, planted);
    assert.equal(planted.stuck.length, 2, 'no state is stuck');
    for (const advice of ['Ask an owner or admin for an invitation.', 'Sign in, then accept.'])
      assert.ok(
        planted.falseAdvice.some((each) => each.endsWith(`“${advice}”`)),
        `“${advice}” is taken for true`,
      );
  });
});

/** Where sign-in sends people to an invitation, and the invitation back to sign-in. */
const sendThroughDeadEnd: Send = async (person, method, path, body) => {
  const answer = await sendPlainly(person, method, path, body);
  const message = {
    '/api/session':
      'You are not an active member of any organization. Ask an owner or admin for an invitation.',
    '/api/invitations/accept':
      'This invitation is for a person who already has an account. Sign in, then accept.',
    '/api/signup': 'An account with this email address already exists. Sign in instead.',
  }[path];
  if (method !== 'POST' || message === undefined) return answer;
  return { ...answer, status: 403, body: { error: { message } } };
};

describe('the tokens of a self-hosted deployment', () => {
  it('are answered by every route, whatever is done to what they act through', async () => {
    assert.deepEqual(await checkTokens(selfHosted), []);
  });
});
