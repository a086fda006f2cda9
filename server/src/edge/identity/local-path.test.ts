import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localPath } from './local-path.ts';

const OURS = 'https://relay.example.com';

describe('where to return to', () => {
  it('may be any path of the console', () => {
    for (const path of ['/', '/lanes', '/lanes?tab=1#top', '/a//b', '/%2F%2Fevil.example'])
      assert.equal(localPath(path, OURS), path);
    assert.equal(localPath('/a/../b', OURS), '/b');
    assert.equal(localPath('/grüße', OURS), '/gr%C3%BC%C3%9Fe');
  });

  it('is never another place, however it is written', () => {
    const elsewhere = [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/.//evil.example',
      '/x/..//evil.example',
      '///evil.example',
      'javascript:alert(1)',
      'evil.example',
      '',
    ];
    for (const path of elsewhere) {
      const found = localPath(path, OURS);
      assert.equal(found, null, path);
    }
  });

  it('brings no line break into a header', () => {
    assert.equal(localPath('/a\r\nset-cookie: x=y', OURS)?.includes('\n'), false);
  });
});
