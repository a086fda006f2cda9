import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { Letter } from '../../mail/letter.ts';
import { type ConsoleFixture, PASSWORD, signUp, startConsole } from './fixture.ts';
import { SIGN_UP_MINUTES } from './sign-up-links.ts';

describe('signing up where Relay sends mail', () => {
  const posted = new EventEmitter();
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({
      mode: 'hosted',
      mail: {
        async post(letter) {
          posted.emit(letter.to, letter);
          return true;
        },
        deliver: async () => null,
      },
    });
    await found('first@example.com', await linkTo('first@example.com'));
  });
  after(() => room.close());

  async function letterTo(email: string): Promise<Letter> {
    const arrived = once(posted, email.toLowerCase());
    const answer = await room.browser().send('POST', '/api/signup/link', { email });
    assert.deepEqual([answer.status, answer.body, answer.setCookies], [204, {}, []]);
    const [letter] = (await arrived) as [Letter];
    return letter;
  }
  async function linkTo(email: string): Promise<string> {
    const { text } = await letterTo(email);
    const link = new URL(/^http\S+sign-up#\S+$/m.exec(text)?.[0] ?? 'none:');
    const fields = new URLSearchParams(link.hash.slice(1));
    assert.equal(fields.get('email'), email.toLowerCase());
    return fields.get('token') ?? '';
  }
  function found(email: string, token?: string) {
    const body = { name: 'Ada', email, password: PASSWORD, organization_name: 'Ada Inc' };
    return room.browser().send('POST', '/api/signup', token === undefined ? body : { ...body, token });
  }

  it('answers the same for a new and a known address; only the mailbox learns which it is', async () => {
    assert.equal((await letterTo('new@example.com')).subject, 'Finish signing up for Relay');
    const known = await letterTo('FIRST@example.com');
    assert.equal(known.subject, 'You already have a Relay account');
    assert.match(known.text, /\/console\/forgot-password/);
    assert.ok(!known.text.includes('token='));
    for (const token of [undefined, 'x'.repeat(50)]) {
      const [fresh, taken] = [await found('new@example.com', token), await found('first@example.com', token)];
      const said = ({ status, body, setCookies }: typeof fresh) => {
        const { request_id: _, ...error } = body['error'] as Record<string, unknown>;
        return { status, error, setCookies };
      };
      assert.deepEqual(said(taken), said(fresh));
      assert.ok(fresh.status === 400 || fresh.status === 404, String(fresh.status));
    }
  });

  it('makes an account whose address is proven, with the link to that address alone', async () => {
    const token = await linkTo('proven@example.com');
    assert.equal((await found('other@example.com', token)).code, 'not_found');
    assert.equal((await found('first@example.com', token)).code, 'not_found');
    assert.equal((await found('Proven@Example.com', token)).status, 201);
    const row = await room.db
      .selectFrom('users')
      .select('email_verified')
      .where('email', '=', 'proven@example.com')
      .executeTakeFirstOrThrow();
    assert.equal(row.email_verified, true);
    // The account ended the link; its owner may know that.
    assert.equal((await found('proven@example.com', token)).code, 'conflict');
  });

  it('ends a link after its time', async () => {
    const token = await linkTo('slow@example.com');
    room.skipMs(SIGN_UP_MINUTES * 60_000);
    assert.equal((await found('slow@example.com', token)).code, 'not_found');
    room.skipMs(-1_000);
    assert.equal((await found('slow@example.com', token)).status, 201);
  });

  it('sends three links an hour to one address, known or not', async () => {
    for (const email of ['first@example.com', 'flooded@example.com']) {
      const statuses: number[] = [];
      for (let index = 0; index < 5; index += 1)
        statuses.push((await room.browser().send('POST', '/api/signup/link', { email })).status);
      assert.deepEqual(statuses.slice(-2), [429, 429], email);
    }
  });
});

describe('signing up where Relay sends no mail', () => {
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({ mode: 'hosted' });
  });
  after(() => room.close());

  it('asks no link, and tells one client of twenty known addresses at most', async () => {
    const link = await room.browser().send('POST', '/api/signup/link', { email: 'a@example.com' });
    assert.deepEqual([link.status, link.code], [403, 'mail_not_configured']);
    await signUp(room, 'Known');
    const statuses: number[] = [];
    for (let index = 0; index < 22; index += 1) {
      const body = { name: 'A', email: 'known@example.com', password: PASSWORD, organization_name: 'A' };
      statuses.push((await room.browser().send('POST', '/api/signup', body)).status);
    }
    assert.deepEqual(statuses, [...Array<number>(20).fill(409), 429, 429]);
  });
});
