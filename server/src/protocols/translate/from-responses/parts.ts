import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import type { ResponsesFields } from './fields.ts';

/** A piece of content, in no protocol's words. `path` is where the request has it. */
export type Part =
  | { readonly kind: 'text' | 'refusal'; readonly text: string; readonly path: string }
  | { readonly kind: 'image'; readonly url: string; readonly detail: unknown; readonly path: string }
  | { readonly kind: 'file'; readonly file: InputFile; readonly path: string }
  | { readonly kind: 'audio'; readonly data: string; readonly format: string; readonly path: string };

/** One of `data` (a data URL) and `url` is there. */
export interface InputFile {
  readonly data: string | null;
  readonly url: string | null;
  readonly filename: string | null;
}

/** Content of a message or of a tool's result. */
export function readParts(
  sorter: FieldSorter,
  content: unknown,
  path: string,
  fields: ResponsesFields,
): readonly Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, path }];
  if (!Array.isArray(content)) {
    sorter.wrongKind(path, 'a string or an array of content parts');
    return [];
  }
  return content.flatMap((part: unknown, index) => readPart(sorter, part, `${path}[${index}]`, fields) ?? []);
}

function readPart(sorter: FieldSorter, part: unknown, path: string, fields: ResponsesFields): Part | null {
  if (!isObject(part)) {
    sorter.wrongKind(path, 'a content part');
    return null;
  }
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      sorter.sort(part, path, part['type'] === 'input_text' ? fields.inputText : fields.outputText);
      return { kind: 'text', text: textOf(sorter, part, 'text', path), path };
    case 'refusal':
      sorter.sort(part, path, fields.refusal);
      return { kind: 'refusal', text: textOf(sorter, part, 'refusal', path), path };
    case 'input_image':
      sorter.sort(part, path, fields.inputImage);
      return {
        kind: 'image',
        url: textOf(sorter, part, 'image_url', path),
        detail: part['detail'] ?? null,
        path,
      };
    case 'input_file':
      sorter.sort(part, path, fields.inputFile);
      return { kind: 'file', file: fileOf(sorter, part, path), path };
    case 'input_audio':
      sorter.sort(part, path, fields.inputAudio);
      return audioOf(sorter, part, path);
    default:
      sorter.cannotSay(`${path}.type`);
      return null;
  }
}

function textOf(sorter: FieldSorter, part: JsonObject, name: string, path: string): string {
  const value = part[name];
  if (typeof value === 'string') return value;
  sorter.wrongKind(`${path}.${name}`, 'a string');
  return '';
}

function fileOf(sorter: FieldSorter, part: JsonObject, path: string): InputFile {
  const data = stringOrNull(part['file_data']);
  const url = stringOrNull(part['file_url']);
  if (data === null && url === null) sorter.wrongKind(path, 'file_data or file_url');
  return { data, url, filename: stringOrNull(part['filename']) };
}

function audioOf(sorter: FieldSorter, part: JsonObject, path: string): Part {
  const audio = part['input_audio'];
  const { data, format } = isObject(audio) ? audio : {};
  if (typeof data === 'string' && typeof format === 'string') return { kind: 'audio', data, format, path };
  sorter.wrongKind(`${path}.input_audio`, 'an object with data and format');
  return { kind: 'audio', data: '', format: '', path };
}

export function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
