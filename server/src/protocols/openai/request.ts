import type { MemberSpan } from '../../kit/json-members.ts';
import { isObject } from '../../kit/json-value.ts';
import { mediaRules } from '../media-meter.ts';
import { type BodyRules, invalidField, type RequestSettings } from '../request-body.ts';
import type { AddedSetting } from '../splice-body.ts';

const STREAM_OPTIONS = 'stream_options';
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;

const openaiMedia = mediaRules(
  {
    image_url: 'image',
    file_data: 'file',
    input_audio: 'audio',
    file_id: 'remote',
    file_url: 'remote',
    video_url: 'remote',
    audio_url: 'remote',
    // An earlier answer in sound, by its id.
    audio: 'remote',
  },
  ['arguments', 'action', 'parameters', 'results', 'input'],
  'item_reference',
);

/** What the requests of all OpenAI protocols have in common. */
export const openaiBody: Omit<BodyRules, 'checkContent'> = {
  media: openaiMedia,
  changedSetting: STREAM_OPTIONS,
  isStreaming: (settings) => settings['stream'] === true,
  wantsUsageFrame(settings) {
    const options = settings[STREAM_OPTIONS];
    return isObject(options) && options['include_usage'] === true;
  },
};

/** Asks for usage in the stream, which chat completions report only on request. */
export const includeUsage: AddedSetting = {
  name: STREAM_OPTIONS,
  appended: `,"${STREAM_OPTIONS}":{"include_usage":true}`,
  merged(value) {
    const parsed: unknown = JSON.parse(value);
    const given = typeof parsed === 'object' && parsed !== null ? parsed : {};
    return JSON.stringify({ ...given, include_usage: true });
  },
};

/** Throws 400 unless `input` is a string or a list. */
export function checkInput(members: readonly MemberSpan[], _settings: RequestSettings, bytes: Buffer): void {
  const span = members.findLast(({ name }) => name === 'input');
  const first = span === undefined ? 0 : bytes[span.start];
  if (first !== QUOTE && first !== OPEN_BRACKET)
    throw invalidField('input', 'input must be a string or an array.');
}
