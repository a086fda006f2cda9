import { isRecord } from './fault.ts';

export interface SseEvent {
  event: string | null;
  data: string;
}

/** Reads a whole event stream as the standard says: any line end, comments dropped, data lines joined. */
export function readSse(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let event: string | null = null;
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data.length > 0) events.push({ event, data: data.join('\n') });
      event = null;
      data = [];
    } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  return events;
}

/** The text a stream of chat, responses or messages put together from its deltas (of the first choice). */
export function contentOfStream(text: string): string {
  let content = '';
  for (const { data } of readSse(text)) {
    if (data === '[DONE]') continue;
    const parsed: unknown = JSON.parse(data);
    if (!isRecord(parsed)) continue;
    if (parsed['type'] === 'response.output_text.delta') content += String(parsed['delta']);
    if (parsed['type'] === 'content_block_delta' && isRecord(parsed['delta']))
      content += typeof parsed['delta']['text'] === 'string' ? parsed['delta']['text'] : '';
    const choices = parsed['choices'];
    if (!Array.isArray(choices)) continue;
    const choice: unknown = choices[0];
    if (!isRecord(choice) || choice['index'] !== 0 || !isRecord(choice['delta'])) continue;
    content += typeof choice['delta']['content'] === 'string' ? choice['delta']['content'] : '';
  }
  return content;
}
