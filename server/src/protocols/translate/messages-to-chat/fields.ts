import { fieldsOf } from '../meanings.ts';

/** https://platform.claude.com/docs/en/api/messages */
export const messagesToChatFields = fieldsOf('messages', 'chat');
