const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Measures the text in a frame without parsing it: the bytes of the strings in members of these names. Text that the model wrote cannot
 * pass for a member, because its quotes are escaped.
 */
export function textInMembers(names: ReadonlySet<string>): (frame: string) => number {
  const member = new RegExp(`"(?:${[...names].join('|')})"\\s*:\\s*"`, 'g');
  return (frame) => {
    let bytes = 0;
    member.lastIndex = 0;
    while (member.exec(frame) !== null) {
      const end = stringEnd(frame, member.lastIndex);
      bytes += end - member.lastIndex;
      member.lastIndex = end;
    }
    return bytes;
  };
}

/** The position of the closing quote, or of the end of a frame that was cut. */
function stringEnd(frame: string, from: number): number {
  for (let at = from; at < frame.length; at += 1) {
    const code = frame.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return frame.length;
}
