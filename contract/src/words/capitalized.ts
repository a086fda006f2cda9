/** The same text with a capital first letter, to begin a sentence or a label. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
