import type { JsonObject } from '../../../kit/json-value.ts';
import { type FieldSorter, withoutUndefined } from '../field-sorter.ts';
import type { InputFile, Part } from '../from-responses/parts.ts';
import type { AssistantBlock, ToolResult, Turn } from '../from-responses/turns.ts';
import { chatContent, textPart } from '../messages-to-chat/content.ts';
import { ReturnedMembers } from '../returned-members.ts';
import { shortCallId } from '../tool-names.ts';

/** What stands between texts that chat completions hold in one string. */
const BETWEEN_TEXTS = '\n\n';

/** The turns, as messages of a chat. */
export function chatMessages(sorter: FieldSorter, turns: readonly Turn[]): readonly JsonObject[] {
  const firstOther = turns.findIndex(({ kind }) => kind !== 'system');
  const systemEnd = firstOther === -1 ? turns.length : firstOther;
  const prompt = turns.slice(0, systemEnd).flatMap((turn) => (turn.kind === 'system' ? turn.texts : []));
  // Templates of many models accept a single system message.
  return [...systemMessage(prompt), ...turns.slice(systemEnd).flatMap((turn) => turnMessages(sorter, turn))];
}

function turnMessages(sorter: FieldSorter, turn: Turn): readonly JsonObject[] {
  switch (turn.kind) {
    case 'system':
      return systemMessage(turn.texts);
    case 'user':
      return userMessage(turn.parts.map((part) => chatPart(sorter, part)));
    case 'assistant':
      return [assistantMessage(sorter, turn.blocks)];
    case 'results':
      return resultMessages(sorter, turn.results);
  }
}

/** OpenAI's models read `system` as `developer`, which compatible providers do not know. */
function systemMessage(texts: readonly string[]): readonly JsonObject[] {
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join(BETWEEN_TEXTS) }];
}

function userMessage(parts: readonly JsonObject[]): readonly JsonObject[] {
  return parts.length === 0 ? [] : [{ role: 'user', content: chatContent(parts) }];
}

function assistantMessage(sorter: FieldSorter, blocks: readonly AssistantBlock[]): JsonObject {
  const texts: string[] = [];
  const refusals: string[] = [];
  const calls: JsonObject[] = [];
  const returned = new ReturnedMembers();
  for (const block of blocks) {
    if (block.kind === 'text') texts.push(block.text);
    else if (block.kind === 'refusal') refusals.push(block.text);
    else if (block.kind === 'call')
      calls.push({
        id: block.callId,
        type: 'function',
        function: { name: block.name, arguments: block.json === '' ? '{}' : block.json },
      });
    else if (block.kind === 'members') returned.add(block.members);
    else if (block.kind === 'returned_thinking') returned.think(block.text, block.path);
    else if ('path' in block)
      sorter.refuse(block.path, 'A chat response can contain only text and tool calls.');
  }
  return returned.into(sorter, {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(BETWEEN_TEXTS),
    refusal: refusals.length === 0 ? undefined : refusals.join(BETWEEN_TEXTS),
    tool_calls: calls.length === 0 ? undefined : calls,
  });
}

/** A tool's message holds text alone, so that images and files of a result follow in a user's message, under its call's id. */
function resultMessages(sorter: FieldSorter, results: readonly ToolResult[]): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  const others: JsonObject[] = [];
  for (const { callId, parts } of results) {
    const texts = parts.flatMap((part) => (isText(part) ? [part.text] : []));
    messages.push({ role: 'tool', tool_call_id: shortCallId(callId), content: texts.join(BETWEEN_TEXTS) });
    const rest = parts.filter((part) => !isText(part));
    if (rest.length > 0)
      others.push(
        textPart(`Content of the result of tool call ${shortCallId(callId)}:`),
        ...rest.map((part) => chatPart(sorter, part)),
      );
  }
  return [...messages, ...userMessage(others)];
}

function isText(part: Part): part is Part & { readonly kind: 'text' | 'refusal' } {
  return part.kind === 'text' || part.kind === 'refusal';
}

function chatPart(sorter: FieldSorter, part: Part): JsonObject {
  switch (part.kind) {
    case 'text':
      return textPart(part.text);
    case 'refusal':
      sorter.refuse(part.path, 'Only assistant messages can contain a refusal.');
      return textPart(part.text);
    case 'image':
      return {
        type: 'image_url',
        image_url: withoutUndefined({ url: part.url, detail: part.detail ?? undefined }),
      };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file':
      return { type: 'file', file: chatFile(part.file) };
  }
}

/** Chat completions require a name, whose ending says what the file is. */
function chatFile({ data, filename }: InputFile): JsonObject {
  const ending = data?.startsWith('data:application/pdf') === true ? 'pdf' : 'txt';
  return { filename: filename ?? `document.${ending}`, file_data: data };
}
