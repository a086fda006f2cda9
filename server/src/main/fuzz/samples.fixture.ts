// Sound inputs of every parser. What is fuzzed starts from them, so that it gets past the first check.

const usage =
  '"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":1}}';

export const requests = [
  '{"model":"main","messages":[{"role":"user","content":"hello \\ud83d\\ude00"}],"max_tokens":10,"n":2}',
  '{"model":"main","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"é"}]}],"stream":true,"stream_options":{"include_usage":false}}',
  '{"model":"main","input":"hello","stream":true,"max_output_tokens":1e3,"instructions":"be brief"}',
  '{"model":"main","input":["a","b"],"dimensions":8,"model":"again"}',
  '{"model":"main","messages":[{"role":"tool","tool_call_id":"a","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}',
] as const;

export const responses = [
  `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],${usage}}`,
  '{"id":"r","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":5}}',
  '{"object":"list","data":[{"embedding":[0.5],"index":0}],"usage":{"prompt_tokens":3,"total_tokens":3}}',
] as const;

export const streams = [
  `data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\ndata: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n: comment\n\ndata: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`,
  'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\r\n\r\ndata: {"error":{"message":"no"}}\r\n\r\n',
  'event: response.created\ndata: {"type":"response.created"}\n\nevent: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"hi"}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":5}}}\n\n',
] as const;

export const configurations = [
  'version: 1\nproviders:\n  - slug: a\n    name: A\n    base_url: https://api.example.com/v1\nlanes:\n  - slug: main\n    name: Main\n    default_max_wait_ms: 1000\n    allow_fallback: true\n    enabled: true\n',
  '{"version":1,"providers":[{"slug":"a","name":"A","base_url":"https://api.example.com/v1"}]}',
  'version: 1\nproviders: &a\n  - &b {slug: a, name: A, base_url: "https://a.example"}\nlanes: *a\n',
  'version: 1\n<<: {a: 1}\n? [complex]\n: !!binary aGk=\n--- # second\nversion: 2\n',
] as const;

const record =
  '{"requestId":"0192f5a0-0000-7000-8000-00000000000a","organizationId":"0192f5a0-0000-7000-8000-00000000000b","state":"completed","candidates":[{"endpointId":"a"}]}';

export const records = [record] as const;

export const urls = [
  'https://api.example.com/v1',
  'http://[::ffff:127.0.0.1]:8080/',
  'https://a@b#c?d=%2f',
] as const;

export const retryAfters = ['5', '0.5', 'Wed, 21 Oct 2026 07:28:00 GMT', '1m2.5s', '-3', '1e9'] as const;
