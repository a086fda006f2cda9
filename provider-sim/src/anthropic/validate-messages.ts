import { isRecord } from '../fault.ts';
import { invalid, type Refusal } from '../openai-error.ts';
import { NO_THREADS } from './anthropic-error.ts';

type Body = Record<string, unknown>;

/** Fields of the API. Others are taken and written down. */
export const messagesFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'cache_control',
  'container',
  'context_management',
  'diagnostics',
  'inference_geo',
  'mcp_servers',
  'metadata',
  'output_config',
  'service_tier',
  'speed',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
  'user_profile_id',
  'workspace_id',
]);
const notCounted = ['max_tokens', 'stream', 'metadata', 'service_tier', 'stop_sequences', 'container'];

/** Blocks that a role may send, and the fields that each needs. */
const userBlocks: Record<string, readonly string[]> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  search_result: ['source', 'title', 'content'],
  tool_result: ['tool_use_id'],
};
const assistantBlocks: Record<string, readonly string[]> = {
  text: ['text'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input'],
  server_tool_use: ['id', 'name', 'input'],
  web_search_tool_result: ['tool_use_id', 'content'],
};

const blocksOf: Record<string, Record<string, readonly string[]>> = {
  user: userBlocks,
  assistant: assistantBlocks,
  system: { text: ['text'] },
};

export function validateMessages(body: Body): Refusal | null {
  if (isRecord(body['thread']))
    return invalid('thread', 'thread: this request cannot be threaded.', NO_THREADS);
  return (
    required(body, ['model', 'messages', 'max_tokens']) ?? validateCap(body) ?? validateConversation(body)
  );
}

export function validateCountTokens(body: Body): Refusal | null {
  const extra = Object.keys(body).find((name) => notCounted.includes(name));
  if (extra !== undefined) return wrong(extra, 'Extra inputs are not permitted');
  return required(body, ['model', 'messages']) ?? validateConversation(body);
}

const removedFields = ['temperature', 'top_p', 'top_k'];

/** What the newest version of the API does not take any more. The body is one that was read before. */
export function refuseRemoved(version: string | null, bytes: Buffer): Refusal | null {
  if (version !== '2026-10-21' || !removedFields.some((name) => bytes.includes(`"${name}"`))) return null;
  const body: unknown = JSON.parse(bytes.toString());
  const found = removedFields.find((name) => isRecord(body) && body[name] !== undefined);
  return found === undefined ? null : wrong(found, 'Extra inputs are not permitted');
}

function validateCap({ max_tokens: cap, thinking, stream }: Body): Refusal | null {
  if (!Number.isInteger(cap)) return wrong('max_tokens', 'Input should be a valid integer');
  if (Number(cap) < 1) return wrong('max_tokens', 'Input should be greater than or equal to 1');
  if (stream !== undefined && typeof stream !== 'boolean')
    return wrong('stream', 'Input should be a valid boolean');
  const budget = isRecord(thinking) && thinking['type'] === 'enabled' ? thinking['budget_tokens'] : undefined;
  if (budget === undefined) return null;
  if (!Number.isInteger(budget) || Number(budget) < 1024)
    return wrong('thinking.enabled.budget_tokens', 'Input should be greater than or equal to 1024');
  if (Number(budget) >= Number(cap))
    return wrong('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`.');
  return null;
}

function validateConversation({ messages, system, tools, tool_choice: choice }: Body): Refusal | null {
  if (system !== undefined && typeof system !== 'string' && !Array.isArray(system))
    return wrong('system', 'Input should be a valid string or list');
  if (Array.isArray(system)) {
    const found = system.findIndex((block) => !isRecord(block) || block['type'] !== 'text');
    if (found >= 0) return wrong(`system.${found}`, 'only text blocks are supported');
  }
  if (!Array.isArray(messages)) return wrong('messages', 'Input should be a valid list');
  if (messages.length === 0) return wrong('messages', 'at least one message is required');
  return validateTools(tools, choice) ?? validateTurns(messages);
}

function validateTools(tools: unknown, choice: unknown): Refusal | null {
  if (tools !== undefined && !Array.isArray(tools)) return wrong('tools', 'Input should be a valid list');
  const names = new Set<string>();
  for (const [index, tool] of (tools ?? []).entries()) {
    if (!isRecord(tool) || typeof tool['name'] !== 'string')
      return wrong(`tools.${index}.name`, 'Field required');
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool['name']))
      return wrong(`tools.${index}.custom.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
    if (names.has(tool['name'])) return wrong('tools', 'Tool names must be unique.');
    names.add(tool['name']);
    const isCustom = tool['type'] === undefined || tool['type'] === 'custom';
    if (isCustom && !isRecord(tool['input_schema']))
      return wrong(`tools.${index}.custom.input_schema`, 'Field required');
  }
  if (choice === undefined) return null;
  if (!isRecord(choice) || !['auto', 'any', 'tool', 'none'].includes(String(choice['type'])))
    return wrong(
      'tool_choice',
      "Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
    );
  if (choice['type'] === 'tool' && !names.has(String(choice['name'])))
    return wrong('tool_choice', `Tool '${String(choice['name'])}' not found in provided tools`);
  return null;
}

/** Roles, blocks, and that every call of a tool is answered in the next turn. */
function validateTurns(messages: readonly unknown[]): Refusal | null {
  let asked: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    if (!isRecord(message)) return wrong(at, 'Input should be a valid dictionary');
    const { role, content } = message;
    const allowed = blocksOf[String(role)];
    if (allowed === undefined)
      return wrong(
        at,
        `Unexpected role "${String(role)}". Allowed roles are "user", "assistant" or "system".`,
      );
    if (index === 0 && role !== 'user') return wrong('messages', 'first message must use the "user" role');
    if (typeof content !== 'string' && !Array.isArray(content))
      return wrong(`${at}.content`, 'Field required');
    const blocks: unknown[] = typeof content === 'string' ? [] : content;
    const found = validateBlocks(blocks, `${at}.content`, allowed);
    if (found !== null) return found;
    if (content.length === 0 && !(role === 'assistant' && index === messages.length - 1))
      return wrong(
        at,
        'all messages must have non-empty content except for the optional final assistant message',
      );
    // What the system says between two turns belongs to neither.
    if (role === 'system') continue;
    const answered = idsOf(blocks, 'tool_result', 'tool_use_id');
    const missing = asked.filter((id) => !answered.includes(id));
    if (missing.length > 0)
      return wrong(
        at,
        `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}.`,
      );
    const unasked = answered.find((id) => !asked.includes(id));
    if (unasked !== undefined)
      return wrong(
        `${at}.content`,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unasked}.`,
      );
    asked = idsOf(blocks, 'tool_use', 'id');
  }
  return null;
}

function validateBlocks(
  blocks: readonly unknown[],
  at: string,
  allowed: Record<string, readonly string[]>,
): Refusal | null {
  for (const [index, block] of blocks.entries()) {
    const type = isRecord(block) ? String(block['type']) : '';
    const needs = allowed[type];
    if (!isRecord(block) || needs === undefined)
      return wrong(
        `${at}.${index}`,
        `Input tag '${type}' found using 'type' does not match any of the expected tags`,
      );
    const missing = needs.find((name) => block[name] === undefined);
    if (missing !== undefined) return wrong(`${at}.${index}.${type}.${missing}`, 'Field required');
    if (type === 'text' && block['text'] === '') return wrong(at, 'text content blocks must be non-empty');
    if (type === 'thinking' && !/^[A-Za-z0-9+/]+=*$/.test(String(block['signature'])))
      return wrong(`${at}.${index}`, 'Invalid `signature` in `thinking` block');
    if (type === 'tool_use' && !isRecord(block['input']))
      return wrong(`${at}.${index}.tool_use.input`, 'Input should be a valid dictionary');
  }
  return null;
}

function idsOf(blocks: readonly unknown[], type: string, name: string): string[] {
  return blocks.filter(isRecord).flatMap((block) => (block['type'] === type ? [String(block[name])] : []));
}

function required(body: Body, names: readonly string[]): Refusal | null {
  const missing = names.find((name) => body[name] === undefined || body[name] === null);
  return missing === undefined ? null : wrong(missing, 'Field required');
}

function wrong(where: string, what: string): Refusal {
  return invalid(where, `${where}: ${what}`, 'invalid_request_error');
}
