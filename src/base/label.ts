/** What people type to be read by people: something to see, on one line, not endless. */
export function isLabel(text: string): boolean {
  const visible = /[^\p{C}\p{Z}]/u.test(text);
  // Line breaks, and marks that turn the direction of what follows.
  const disguised = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text);
  return visible && !disguised && text.isWellFormed() && [...text].length <= 128;
}
