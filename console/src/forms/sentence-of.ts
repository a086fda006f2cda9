/** `base_url must be an http URL` beside the field of that name is "Must be an http URL." */
export function sentenceOf(path: string, message: string): string {
  const plain = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
  if (plain === '') return '';
  const sentence = plain[0]?.toUpperCase() + plain.slice(1);
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
