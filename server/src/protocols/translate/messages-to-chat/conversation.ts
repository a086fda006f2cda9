import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import { ReturnedMembers } from '../returned-members.ts';
import { unsealed } from '../seal.ts';
import { inputText } from '../tool-input.ts';
import { shortCallId, shortName } from '../tool-names.ts';
import { blockParts, chatContent, chatParts, isText, textPart } from './content.ts';
import { messagesToChatFields as fields } from './fields.ts';

interface Block {
  readonly block: JsonObject;
  readonly path: string;
}

/** The system prompt and the messages, as messages of a chat. */
export function chatMessages(
  sorter: FieldSorter,
  request: JsonObject,
  maker: string | undefined,
): readonly JsonObject[] {
  const { system, messages } = request;
  const first = system === undefined || system === null ? [] : systemMessages(sorter, system, 'system');
  if (!Array.isArray(messages)) {
    sorter.wrongKind('messages', 'an array of messages');
    return first;
  }
  const last: unknown = messages.at(-1);
  if (isObject(last) && last['role'] === 'assistant')
    sorter.refuse(
      `messages[${messages.length - 1}].role`,
      'The Chat Completions API can’t continue a response that the request began.',
    );
  const rest = messages.flatMap((message: unknown, index) =>
    messageOf(sorter, message, `messages[${index}]`, maker),
  );
  if (rest.length === 0)
    sorter.refuse('messages', 'The Chat Completions API needs at least one message that is not empty.');
  return [...first, ...rest];
}

function messageOf(
  sorter: FieldSorter,
  message: unknown,
  path: string,
  maker: string | undefined,
): readonly JsonObject[] {
  if (!isObject(message)) {
    sorter.wrongKind(path, 'a message');
    return [];
  }
  sorter.sort(message, path, fields.message);
  const { role, content } = message;
  switch (role) {
    case 'system':
      return systemMessages(sorter, content, `${path}.content`);
    case 'user':
      return userMessages(sorter, content, `${path}.content`);
    case 'assistant':
      return assistantMessages(sorter, content, `${path}.content`, maker);
    default:
      sorter.cannotSay(`${path}.role`);
      return [];
  }
}

function systemMessages(sorter: FieldSorter, content: unknown, path: string): readonly JsonObject[] {
  const parts = chatParts(sorter, content, path);
  if (!parts.every(isText)) sorter.refuse(path, 'A system prompt must be text.');
  return parts.length === 0 ? [] : [{ role: 'system', content: chatContent(parts) }];
}

/** Results of tools are messages of their own and have to follow the calls directly; the rest of the turn comes after them. */
function userMessages(sorter: FieldSorter, content: unknown, path: string): readonly JsonObject[] {
  if (!Array.isArray(content)) return userMessage(chatParts(sorter, content, path));
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`;
    if (isObject(block) && block['type'] === 'tool_result')
      addToolResult(sorter, { block, path: at }, results, parts);
    else parts.push(...blockParts(sorter, block, at));
  }
  return [...results, ...userMessage(parts)];
}

function userMessage(parts: readonly JsonObject[]): readonly JsonObject[] {
  return parts.length === 0 ? [] : [{ role: 'user', content: chatContent(parts) }];
}

/** A tool's message holds text alone, so that images and files of a result follow in the user's message, under its call's id. */
function addToolResult(
  sorter: FieldSorter,
  { block, path }: Block,
  results: JsonObject[],
  parts: JsonObject[],
): void {
  sorter.sort(block, path, fields.toolResult);
  const { tool_use_id: id, content, is_error: isError } = block;
  if (typeof id !== 'string') sorter.wrongKind(`${path}.tool_use_id`, 'a string');
  const all = content === undefined || content === null ? [] : chatParts(sorter, content, `${path}.content`);
  const text = all.filter(isText);
  const other = all.filter((part) => !isText(part));
  // Chat completions have no mark for a failed call; the model has to read it.
  const said = isError === true ? [textPart('Error:'), ...text] : text;
  results.push({
    role: 'tool',
    tool_call_id: shortCallId(String(id)),
    content: said.length === 0 ? '' : chatContent(said),
  });
  if (other.length > 0)
    parts.push(textPart(`Content of the result of tool call ${shortCallId(String(id))}:`), ...other);
}

function assistantMessages(
  sorter: FieldSorter,
  content: unknown,
  path: string,
  maker: string | undefined,
): readonly JsonObject[] {
  if (!Array.isArray(content))
    return [{ role: 'assistant', content: chatContent(chatParts(sorter, content, path)) }];
  const parts: JsonObject[] = [];
  const calls: JsonObject[] = [];
  const returned = new ReturnedMembers();
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`;
    const type = isObject(block) ? block['type'] : null;
    if (isObject(block) && type === 'tool_use') calls.push(toolCall(sorter, { block, path: at }));
    else if (isObject(block) && (type === 'thinking' || type === 'redacted_thinking'))
      openThinking(sorter, { block, path: at }, returned, maker);
    else parts.push(...blockParts(sorter, block, at));
  }
  if (!parts.every(isText)) sorter.refuse(path, 'A chat response can contain only text and tool calls.');
  if (parts.length === 0 && calls.length === 0) return [];
  return [
    returned.into(sorter, {
      role: 'assistant',
      content: parts.length === 0 ? null : chatContent(parts),
      tool_calls: calls.length === 0 ? undefined : calls,
    }),
  ];
}

/** Only the provider that made it can read it, and it adds nothing to what was said. */
function openThinking(
  sorter: FieldSorter,
  { block, path }: Block,
  returned: ReturnedMembers,
  maker: string | undefined,
): void {
  const seal = unsealed(maker, block['type'] === 'thinking' ? block['signature'] : block['data']);
  if (seal?.kind === 'members') returned.add(seal.members);
  else if (seal?.kind === 'text' && typeof block['thinking'] === 'string')
    returned.think(block['thinking'], path);
  else sorter.leaveOut(path);
}

function toolCall(sorter: FieldSorter, { block, path }: Block): JsonObject {
  sorter.sort(block, path, fields.toolUse);
  const { id, name, input } = block;
  if (typeof id !== 'string') sorter.wrongKind(`${path}.id`, 'a string');
  if (typeof name !== 'string') sorter.wrongKind(`${path}.name`, 'a string');
  return {
    id: String(id),
    type: 'function',
    function: { name: shortName(String(name)), arguments: inputText(input) },
  };
}
