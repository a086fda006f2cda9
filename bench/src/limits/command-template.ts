/** Makes the command for another operation. */
export type CommandFor = (operationId: string) => string[];

/** What one operation's command becomes for others: the same in all but the operation's id, wherever it is named. */
export function commandTemplate(command: readonly string[], operationId: string): CommandFor {
  const changing: (readonly [number, readonly string[]])[] = [];
  for (const [index, argument] of command.entries()) {
    const pieces = argument.split(operationId);
    if (pieces.length > 1) changing.push([index, pieces]);
  }
  if (changing.length === 0) throw new Error('the command does not name its operation');
  return (id) => {
    const made = [...command];
    for (const [index, pieces] of changing) made[index] = pieces.join(id);
    return made;
  };
}
