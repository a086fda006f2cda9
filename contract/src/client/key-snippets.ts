/** What a client needs to call Relay with a key. */
export interface KeyUse {
  /** The address of Relay, without /v1. */
  readonly server: string;
  readonly key: string;
  /** A lane or model. */
  readonly model: string;
}

export interface KeySnippet {
  readonly id: 'curl' | 'javascript' | 'python' | 'claude-code' | 'codex';
  readonly label: string;
  readonly code: string;
}

/** Text to paste for each of the usual clients, with address, key and model filled in. */
export function keySnippets(use: KeyUse): readonly KeySnippet[] {
  return [
    { id: 'curl', label: 'curl', code: curl(use) },
    { id: 'javascript', label: 'OpenAI SDK (JavaScript)', code: javascript(use) },
    { id: 'python', label: 'OpenAI SDK (Python)', code: python(use) },
    { id: 'claude-code', label: 'Claude Code', code: exportsOf(claudeCodeVariables(use)) },
    { id: 'codex', label: 'Codex', code: codex(use) },
  ];
}

/** Claude Code has a model for each of its tiers, and calls the small one in the background. */
export function claudeCodeVariables({ server, model, key }: KeyUse): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: server,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  };
}

interface CodexSettings {
  readonly root: Readonly<Record<string, string>>;
  readonly provider: Readonly<Record<string, string>>;
}

/** Of Codex's config.toml: the first lines, and the table `model_providers.relay`. */
export function codexSettings({
  server,
  model,
  keyVariable,
}: Pick<KeyUse, 'server' | 'model'> & { readonly keyVariable: string }): CodexSettings {
  return {
    // Relay rejects Codex's own web search where the provider speaks another protocol.
    root: { model, model_provider: 'relay', web_search: 'disabled' },
    // Codex supports the Responses API only.
    provider: { name: 'Relay', base_url: `${server}/v1`, env_key: keyVariable, wire_api: 'responses' },
  };
}

export function shellWord(text: string): string {
  return /^[\w.~+/:=…-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function curl({ server, key, model }: KeyUse): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    `curl ${shellWord(`${server}/v1/chat/completions`)} \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d ${shellWord(body)}`,
  ].join('\n');
}

function javascript({ server, key, model }: KeyUse): string {
  return `import OpenAI from 'openai';

const relay = new OpenAI({ baseURL: ${quoted(`${server}/v1`)}, apiKey: ${quoted(key)} });
const completion = await relay.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(completion.choices[0].message.content);`;
}

function python({ server, key, model }: KeyUse): string {
  return `from openai import OpenAI

relay = OpenAI(base_url=${JSON.stringify(`${server}/v1`)}, api_key=${JSON.stringify(key)})
completion = relay.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`;
}

function codex({ server, key, model }: KeyUse): string {
  const { root, provider } = codexSettings({ server, model, keyVariable: 'RELAY_API_KEY' });
  return [
    '# In the shell that starts Codex',
    exportsOf({ RELAY_API_KEY: key }),
    '',
    '# In ~/.codex/config.toml',
    ...tomlLines(root),
    '',
    '[model_providers.relay]',
    ...tomlLines(provider),
  ].join('\n');
}

function exportsOf(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join('\n');
}

/** A JSON string is a TOML basic string, too. */
function tomlLines(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
}

function quoted(text: string): string {
  return /^[^'\\\n]*$/.test(text) ? `'${text}'` : JSON.stringify(text);
}
