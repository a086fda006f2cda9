import { advisory, carried, essential } from '../field-sorter.ts';
import { partFields, type ResponsesFields, requestFields, sharedFields } from '../from-responses/fields.ts';

/**
 * Every field of a Responses request, for a provider that speaks chat completions. A field without a row is essential.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const responsesToChatFields: ResponsesFields = {
  ...sharedFields,
  request: {
    ...requestFields,
    service_tier: carried,
    // OpenAI's chat completions have these; compatible providers reject what they do not know, and the answer is the same.
    user: advisory,
    safety_identifier: advisory,
  },
  inputImage: { ...partFields, image_url: carried, detail: carried, file_id: essential() },
  inputFile: {
    ...partFields,
    file_data: carried,
    filename: carried,
    file_url: essential(),
    file_id: essential(),
    detail: advisory,
  },
  inputAudio: { ...partFields, input_audio: carried },
};
