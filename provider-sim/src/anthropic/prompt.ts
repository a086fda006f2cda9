import { tokensOfText } from '../content.ts';
import { isRecord } from '../fault.ts';
import { imageTokens } from '../read-prompt.ts';

export interface AnthropicPrompt {
  text: string;
  tokens: number;
  /** Tokens of the blocks that ask to be cached, by how long. */
  written5m: number;
  written1h: number;
}

/** The text of the system prompt and the messages, what images and tools add, and what is written to the cache. */
export function anthropicPrompt(body: Record<string, unknown>): AnthropicPrompt {
  const prompt: AnthropicPrompt = { text: '', tokens: 0, written5m: 0, written1h: 0 };
  let images = 0;

  function addBlock(block: unknown): void {
    if (typeof block === 'string') prompt.text += block;
    if (Array.isArray(block)) for (const each of block) addBlock(each);
    if (!isRecord(block)) return;
    const said = [block['text'], block['thinking']].find((each) => typeof each === 'string');
    if (typeof said === 'string') prompt.text += said;
    if (block['type'] === 'image' || block['type'] === 'document') images += 1;
    if (block['type'] === 'tool_use') prompt.text += JSON.stringify(block['input']);
    if (block['type'] === 'tool_result') addBlock(block['content']);
    const { cache_control: control } = block;
    if (!isRecord(control)) return;
    const tokens = tokensOfText(typeof said === 'string' ? said : JSON.stringify(block));
    if (control['ttl'] === '1h') prompt.written1h += tokens;
    else prompt.written5m += tokens;
  }

  addBlock(body['system']);
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  for (const message of messages) if (isRecord(message)) addBlock(message['content']);
  const tools = Array.isArray(body['tools']) && body['tools'].length > 0 ? JSON.stringify(body['tools']) : '';
  prompt.tokens = Math.max(1, tokensOfText(prompt.text) + images * imageTokens + tokensOfText(tools));
  return prompt;
}
