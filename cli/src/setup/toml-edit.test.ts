import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setRootValue, setTable } from './toml-edit.ts';

const FILE = `# my settings
model = "gpt-5"
notes = """
[model_providers.relay]
model_provider = "no"
"""

[tui] # look
theme = "dark"
model = "not this one"

[model_providers.relay]
name = "Old"
extra = 1

[mcp_servers.files]
command = "x"
`;

describe('editing TOML', () => {
  it('sets a root key in place and keeps tables and strings', () => {
    const changed = setRootValue(FILE, 'model', 'fast');
    assert.equal(changed, FILE.replace('model = "gpt-5"', 'model = "fast"'));
  });

  it('adds a root key before every table', () => {
    assert.equal(setRootValue(FILE, 'model_provider', 'relay'), `model_provider = "relay"\n${FILE}`);
  });

  it('replaces one table only', () => {
    const changed = setTable(FILE, 'model_providers.relay', { name: 'Relay' });
    assert.equal(changed, FILE.replace('name = "Old"\nextra = 1\n', 'name = "Relay"\n'));
  });

  it("adds a table at the end with the file's line ends", () => {
    assert.equal(setTable('a = 1\r\n', 't', { b: 'c"d' }), 'a = 1\r\n\r\n[t]\r\nb = "c\\"d"\r\n');
    assert.equal(setTable('', 't', { b: 'c' }), '[t]\nb = "c"\n');
  });
});
