import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import { shortName } from '../tool-names.ts';
import { messagesToChatFields as fields } from './fields.ts';

/** A string, or blocks that can become parts: what Messages accept as content. */
export function chatParts(sorter: FieldSorter, content: unknown, path: string): readonly JsonObject[] {
  if (typeof content === 'string') return [textPart(content)];
  if (!Array.isArray(content)) {
    sorter.wrongKind(path, 'a string or an array of content blocks');
    return [];
  }
  return content.flatMap((block: unknown, index) => blockParts(sorter, block, `${path}[${index}]`));
}

/** The only part when it is text, as a string: some compatible providers read nothing else. */
export function chatContent(parts: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first] = parts;
  return parts.length === 1 && typeof first?.['text'] === 'string' ? first['text'] : parts;
}

/** Content of which a system prompt and a tool's result may only be made. */
export function isText(part: JsonObject): boolean {
  return part['type'] === 'text';
}

export function textPart(text: string): JsonObject {
  return { type: 'text', text };
}

/** One block; a document can become several parts. */
export function blockParts(sorter: FieldSorter, block: unknown, path: string): readonly JsonObject[] {
  if (!isObject(block)) {
    sorter.wrongKind(path, 'a content block');
    return [];
  }
  switch (block['type']) {
    case 'text':
      sorter.sort(block, path, fields.text);
      if (typeof block['text'] !== 'string') sorter.wrongKind(`${path}.text`, 'a string');
      return [{ type: 'text', text: block['text'] }];
    case 'image':
      sorter.sort(block, path, fields.image);
      return imageParts(sorter, block['source'], `${path}.source`);
    case 'document':
      sorter.sort(block, path, fields.document);
      return documentParts(sorter, block, path);
    case 'tool_reference':
      sorter.sort(block, path, fields.toolReference);
      return [toolReference(sorter, block['tool_name'], path)];
    default:
      sorter.cannotSay(`${path}.type`);
      return [];
  }
}

/** What a search for tools found. Tools that are loaded later are in the list from the beginning, so that its name is enough. */
function toolReference(sorter: FieldSorter, name: unknown, path: string): JsonObject {
  if (typeof name !== 'string') sorter.wrongKind(`${path}.tool_name`, 'a string');
  return textPart(`The tool ${shortName(String(name))} can be called.`);
}

function imageParts(sorter: FieldSorter, source: unknown, path: string): readonly JsonObject[] {
  const url = isObject(source) ? imageUrl(sorter, source, path) : null;
  if (url === null) {
    sorter.cannotSay(path);
    return [];
  }
  return [{ type: 'image_url', image_url: { url } }];
}

function imageUrl(sorter: FieldSorter, source: JsonObject, path: string): string | null {
  const { type, url } = source;
  if (type === 'base64') return dataUrl(sorter, source, path);
  if (type !== 'url' || typeof url !== 'string') return null;
  sorter.sort(source, path, fields.urlSource);
  return url;
}

function dataUrl(sorter: FieldSorter, source: JsonObject, path: string): string | null {
  const { media_type: mediaType, data } = source;
  if (typeof mediaType !== 'string' || typeof data !== 'string') return null;
  sorter.sort(source, path, fields.base64Source);
  return `data:${mediaType};base64,${data}`;
}

/** A PDF is a file, and its title the file's name. Text is text; what is said about it stands before it. */
function documentParts(sorter: FieldSorter, block: JsonObject, path: string): readonly JsonObject[] {
  const { source, title, context } = block;
  const titleText = typeof title === 'string' ? title : null;
  const before = typeof context === 'string' ? [textPart(context)] : [];
  if (isObject(source) && source['type'] === 'base64') {
    const data = dataUrl(sorter, source, `${path}.source`);
    if (data !== null) {
      const file = { filename: titleText ?? 'document.pdf', file_data: data };
      return [...before, { type: 'file', file }];
    }
  }
  const text = isObject(source) ? sourceParts(sorter, source, `${path}.source`) : null;
  if (text !== null) return [...(titleText === null ? [] : [textPart(titleText)]), ...before, ...text];
  // By URL or file id: chat completions take a file only by its content, or by an id of their own.
  sorter.cannotSay(`${path}.source`);
  return [];
}

function sourceParts(sorter: FieldSorter, source: JsonObject, path: string): readonly JsonObject[] | null {
  const { type, data, content } = source;
  if (type === 'text' && typeof data === 'string') {
    sorter.sort(source, path, fields.textSource);
    return [textPart(data)];
  }
  if (type !== 'content') return null;
  sorter.sort(source, path, fields.contentSource);
  return chatParts(sorter, content, `${path}.content`);
}
