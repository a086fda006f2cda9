/** Downloads a text as a file. */
export function saveText(fileName: string, contentType: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: contentType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The download has started by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
