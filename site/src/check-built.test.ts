import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkBuilt } from './check-built.ts';

function check(html: string, base = '/') {
  const files = [
    { path: 'a.html', text: html },
    { path: 'b/index.html', text: '<h2 id="known">x</h2>' },
  ];
  return checkBuilt(files, new Set(['a.html', 'b/index.html', 'x.svg']), base);
}

test('links to files, folders, elements and other hosts hold', () => {
  const { links, broken, external } = check(
    '<p id="p"></p><a href="/b/#known"></a><a href="#p"></a><a href="b/"></a><img src="/x.svg"><a href="https://a.b/"></a>',
  );
  assert.deepEqual([links, broken, external], [4, [], []]);
  assert.deepEqual(check('<a href="/base/b/#known"></a>', '/base/').broken, []);
});

test('a link to no file, and one to no element, are broken', () => {
  assert.equal(
    check('<a href="/gone.html"></a><a href="/b/#gone"></a><a href="#gone"></a>').broken.length,
    3,
  );
});

test('a script, picture or style from another host is found', () => {
  const html =
    '<script src="https://a.b/x.js"></script><img src="//a.b/x.png"><link rel="stylesheet" href="https://a.b/x.css">';
  assert.equal(check(html).external.length, 3);
  const css = { path: 'x.css', text: '@font-face{src:url(https://a.b/f.woff2)}' };
  assert.equal(checkBuilt([css], new Set(), '/').external.length, 1);
});
