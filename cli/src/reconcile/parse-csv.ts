/** The records of a CSV text (RFC 4180) by the names in its first line. */
export function parseCsv(text: string): Record<string, string>[] {
  const [names = [], ...records] = recordsOf(text.replace(/^\uFEFF/, ''));
  return records.map((values) =>
    Object.fromEntries(names.map((name, place) => [name.trim(), values[place] ?? ''])),
  );
}

function recordsOf(text: string): string[][] {
  const records: string[][] = [];
  let [record, field, isQuoted]: [string[], string, boolean] = [[], '', false];
  const endRecord = () => {
    record.push(field);
    if (record.length > 1 || field !== '') records.push(record);
    [record, field] = [[], ''];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (isQuoted) {
      if (sign !== '"') field += sign;
      else if (text.charAt(at + 1) === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === ',') {
      record.push(field);
      field = '';
    } else if (sign === '\n') endRecord();
    else if (sign !== '\r') field += sign;
  }
  endRecord();
  return records;
}
