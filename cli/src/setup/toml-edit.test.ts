import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTomlValue } from './toml-edit.ts';

const FILE = `# my settings
model = "gpt-5" # the large one
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
  it('sets a root key in place and keeps its comment, tables and strings', () => {
    const changed = setTomlValue(FILE, null, 'model', 'fast');
    assert.equal(changed, FILE.replace('"gpt-5"', '"fast"'));
  });

  it('adds a root key before every table', () => {
    assert.equal(setTomlValue(FILE, null, 'model_provider', 'relay'), `model_provider = "relay"\n${FILE}`);
    assert.equal(setTomlValue(FILE, null, 'theme', 'light'), `theme = "light"\n${FILE}`);
  });

  it('sets keys of one table only, and keeps the others of that table', () => {
    const renamed = setTomlValue(FILE, 'model_providers.relay', 'name', 'Relay');
    assert.equal(renamed, FILE.replace('"Old"', '"Relay"'));
    const added = setTomlValue(FILE, 'model_providers.relay', 'wire_api', 'responses');
    assert.equal(added, FILE.replace('extra = 1\n', 'extra = 1\nwire_api = "responses"\n'));
  });

  it("adds a table at the end with the file's line ends", () => {
    assert.equal(setTomlValue('a = 1\r\n', 't', 'b', 'c"d'), 'a = 1\r\n\r\n[t]\r\nb = "c\\"d"\r\n');
    assert.equal(setTomlValue('', 't', 'b', 'c'), '[t]\nb = "c"\n');
  });
});
