import { fieldsOf } from '../meanings.ts';

/** https://platform.openai.com/docs/api-reference/responses/create */
export const responsesToChatFields = fieldsOf('responses', 'chat');
