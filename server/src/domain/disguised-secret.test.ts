import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { withoutDisguises } from './disguised-secret.ts';

const secret = 'hx7-Qm2PzL9vTrW4-secret';
const hide = (text: string) => withoutDisguises(text, secret, '…');

describe('a secret in disguise', () => {
  it('is hidden in every form, and what stands around it is kept', () => {
    const forms: readonly string[] = [
      [...secret].join(' '),
      [...secret].join('","'),
      secret.replaceAll(/(.{4})/g, '$1\u200b'),
      [...secret].reverse().join(''),
      Buffer.from(secret).toString('hex'),
    ];
    for (const form of forms) assert.equal(hide(`before ${form} after`), 'before … after', form);
  });

  it('is hidden in base64, wherever it begins in what was encoded', () => {
    for (const before of ['', 'a', 'ab', 'key: ', 'Bearer ']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const shown = hide(Buffer.from(`${before}${secret}.`).toString(encoding));
        assert.ok(!Buffer.from(shown, 'base64').toString('latin1').includes(secret.slice(2, 14)), shown);
        assert.match(shown, /…/);
      }
    }
  });

  it('never keeps twelve of its letters in a row, whatever stands between them', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(' ', '-', '", "', '\\n'),
        fc.string(),
        (before, between, after) => {
          const shown = hide(before + [...secret].join(between) + after);
          const letters = shown.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();
          assert.ok(!letters.includes('qm2pzl9vtrw4'), shown);
        },
      ),
    );
  });

  it('is not seen in ordinary words', () => {
    const said =
      'The model gpt-5 does not exist, or you have no secret access to it. Ask for it at example.com.';
    assert.equal(hide(said), said);
    assert.equal(withoutDisguises(said, null, '…'), said);
    assert.equal(withoutDisguises('ok', 'ok', '…'), 'ok');
  });
});
