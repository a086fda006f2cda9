/** The number that an option was given; throws when it is none that can be counted up to. */
export function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} must be a whole number above zero`);
  return value;
}
