import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import { documentSource, imageSource } from '../messages-sources.ts';
import { chatToMessagesFields as fields } from './fields.ts';

/** A string, or parts: what a chat accepts as content. */
export function messageBlocks(sorter: FieldSorter, content: unknown, path: string): readonly JsonObject[] {
  if (typeof content === 'string') return textBlocks(content);
  if (!Array.isArray(content)) {
    sorter.wrongKind(path, 'a string or an array of content parts');
    return [];
  }
  return content.flatMap((part: unknown, index) => partBlocks(sorter, part, `${path}[${index}]`));
}

/** The only block when it is nothing but text, as a string. */
export function messageContent(blocks: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first] = blocks;
  const isPlain = blocks.length === 1 && first?.['cache_control'] === undefined;
  return isPlain && typeof first?.['text'] === 'string' ? first['text'] : blocks;
}

/** Messages reject text blocks of nothing but space. */
export function textBlocks(text: string): readonly JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function partBlocks(sorter: FieldSorter, part: unknown, path: string): readonly JsonObject[] {
  if (!isObject(part)) {
    sorter.wrongKind(path, 'a content part');
    return [];
  }
  switch (part['type']) {
    case 'text':
      sorter.sort(part, path, fields.text);
      return withCache(part, said(sorter, part['text'], `${path}.text`));
    case 'refusal':
      sorter.sort(part, path, fields.refusal);
      return said(sorter, part['refusal'], `${path}.refusal`);
    case 'image_url':
      sorter.sort(part, path, fields.image);
      return withCache(part, imageBlocks(sorter, part['image_url'], `${path}.image_url`));
    case 'file':
      sorter.sort(part, path, fields.filePart);
      return withCache(part, documentBlocks(sorter, part['file'], `${path}.file`));
    default:
      sorter.cannotSay(`${path}.type`);
      return [];
  }
}

/** What clients of compatible gateways write into a chat's parts. */
function withCache(
  { cache_control: cache }: JsonObject,
  blocks: readonly JsonObject[],
): readonly JsonObject[] {
  return cache === undefined || cache === null
    ? blocks
    : blocks.map((block) => ({ ...block, cache_control: cache }));
}

export function said(sorter: FieldSorter, text: unknown, path: string): readonly JsonObject[] {
  if (typeof text === 'string') return textBlocks(text);
  sorter.wrongKind(path, 'a string');
  return [];
}

function imageBlocks(sorter: FieldSorter, given: unknown, path: string): readonly JsonObject[] {
  const { url } = sorter.section(given, path, fields.imageUrl);
  if (typeof url !== 'string') {
    sorter.wrongKind(`${path}.url`, 'a string');
    return [];
  }
  const source = imageSource(url);
  if (source !== null) return [{ type: 'image', source }];
  sorter.refuse(
    `${path}.url`,
    'The Messages API accepts JPEG, PNG, GIF and WebP images, by URL or in base64.',
  );
  return [];
}

function documentBlocks(sorter: FieldSorter, given: unknown, path: string): readonly JsonObject[] {
  const { file_data: fileData, filename } = sorter.section(given, path, fields.file);
  const source = typeof fileData === 'string' ? documentSource(fileData) : null;
  if (source === null) {
    sorter.refuse(`${path}.file_data`, 'The Messages API accepts PDF and plain-text files in base64.');
    return [];
  }
  return [{ type: 'document', source, ...(typeof filename === 'string' ? { title: filename } : {}) }];
}
