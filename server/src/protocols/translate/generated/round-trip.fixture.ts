import { writeJson } from '../../../kit/json-source.ts';
import { isObject, listOf } from '../../../kit/json-value.ts';
import { chatToMessages } from '../chat-to-messages/index.ts';
import { messagesToChat } from '../messages-to-chat/index.ts';
import type { Translation } from '../translation.ts';

/** A request of Messages after its way to chat and back, and what it has to be: everything that both can express. */
export function roundTrip(request: unknown): { readonly returned: unknown; readonly wanted: unknown } {
  const chat = translated(messagesToChat, request);
  const returned = translated(chatToMessages, chat.body);
  return { returned: plain(returned.body), wanted: plain(withoutPaths(request, chat.leftOut)) };
}

/** As the provider gets it. */
function translated(
  translation: Translation,
  request: unknown,
): { readonly body: unknown; readonly leftOut: readonly string[] } {
  const result = translation.request(request, 'lane');
  if (result.kind === 'incompatible') throw new Error(`${result.field}: ${result.why}`);
  return { body: JSON.parse(writeJson(result.body)), leftOut: result.leftOut };
}

/** The request without the fields that were named as left out. */
function withoutPaths(value: unknown, paths: readonly string[], path = ''): unknown {
  if (Array.isArray(value))
    return value
      .map((entry: unknown, index) => [entry, `${path}[${index}]`] as const)
      .filter(([, at]) => !paths.includes(at))
      .map(([entry, at]) => withoutPaths(entry, paths, at));
  if (!isObject(value)) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, member, path === '' ? name : `${path}.${name}`] as const)
    .filter(([, , at]) => !paths.includes(at))
    .map(([name, member, at]) => [name, withoutPaths(member, paths, at)]);
  return Object.fromEntries(members);
}

/** Text in blocks, where both forms say the same; without a tool's type and `strict: false`, which are the defaults. */
function plain(request: unknown): unknown {
  if (!isObject(request)) return request;
  const { system, messages, tools, output_config: output, ...rest } = request;
  return {
    ...rest,
    // An empty object says nothing.
    ...(isObject(output) && Object.keys(output).length > 0 ? { output_config: output } : {}),
    ...(system === undefined ? {} : { system: blocks(system) }),
    messages: listOf(messages).map((message) =>
      isObject(message) ? { ...message, content: blocks(message['content']) } : message,
    ),
    ...(tools === undefined ? {} : { tools: listOf(tools).map(withoutType) }),
  };
}

function blocks(content: unknown): unknown {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listOf(content).map((block) =>
    isObject(block) && block['type'] === 'tool_result'
      ? { ...block, content: blocks(block['content']) }
      : block,
  );
}

function withoutType(tool: unknown): unknown {
  if (!isObject(tool)) return tool;
  const { type: _type, strict, ...rest } = tool;
  return strict === true ? { ...rest, strict } : rest;
}
