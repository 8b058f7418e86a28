/** A name or note that people typed: visible, on one line, at most 128 characters. */
export function isLabel(text: string): boolean {
  const isVisible = /[^\p{C}\p{Z}]/u.test(text);
  // Line breaks, and marks that reverse the writing direction of what follows.
  const hasControls = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text);
  return isVisible && !hasControls && text.isWellFormed() && [...text].length <= 128;
}
