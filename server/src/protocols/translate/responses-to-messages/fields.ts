import { advisory, advisoryUnless, carried, essential } from '../field-sorter.ts';
import { partFields, type ResponsesFields, requestFields, sharedFields } from '../from-responses/fields.ts';

/**
 * Every field of a Responses request, for a provider that speaks Messages. A field without a row is essential.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const responsesToMessagesFields: ResponsesFields = {
  ...sharedFields,
  request: { ...requestFields, user: advisory, safety_identifier: advisory },
  reasoning: { ...sharedFields.reasoning, summary: carried },
  // Agents ask for a verbosity with every request. It steers the length and not what is said.
  text: { format: carried, verbosity: advisoryUnless('medium') },
  // The name is for the client's own eyes; Messages always guarantee the schema.
  textFormat: { ...sharedFields.textFormat, name: advisory, strict: advisoryUnless(true) },
  inputImage: { ...partFields, image_url: carried, detail: advisoryUnless('auto'), file_id: essential() },
  inputFile: {
    ...partFields,
    file_data: carried,
    file_url: carried,
    filename: carried,
    file_id: essential(),
    detail: advisory,
  },
  inputAudio: { input_audio: essential() },
};
