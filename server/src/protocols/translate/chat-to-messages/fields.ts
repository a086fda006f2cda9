import { fieldsOf } from '../meanings.ts';

/** https://platform.openai.com/docs/api-reference/chat/create */
export const chatToMessagesFields = fieldsOf('chat', 'messages');
