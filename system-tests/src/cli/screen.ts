/** The text on a terminal after all cursor movements, without colors. */
export function screenOf(raw: string): string {
  const lines: string[] = [''];
  let column = 0;
  const put = (text: string) => {
    const line = [...(lines.at(-1) ?? '')];
    for (const letter of text) {
      while (line.length < column) line.push(' ');
      line[column] = letter;
      column += 1;
    }
    lines[lines.length - 1] = line.join('');
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is made of them.
  for (const [part] of raw.matchAll(/\u001b\[[0-9;?]*[A-Za-z]|\r|\n|\u0008|[^\u001b\r\n\u0008]+|\u001b/g)) {
    if (part === '\n') {
      lines.push('');
      column = 0;
    } else if (part === '\r') column = 0;
    else if (part === '\b') column = Math.max(0, column - 1);
    else if (part.startsWith('\u001b[')) {
      const amount = Number(/\d+/.exec(part)?.[0] ?? 1);
      if (part.endsWith('G')) column = amount - 1;
      if (part.endsWith('K') || part.endsWith('J'))
        lines[lines.length - 1] = [...(lines.at(-1) ?? '')].slice(0, column).join('');
    } else if (part !== '\u001b') put(part);
  }
  return lines.map((line) => line.trimEnd()).join('\n');
}
