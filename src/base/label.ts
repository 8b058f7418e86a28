// Line breaks and other controls, and marks that reverse the writing direction of what follows.
const controls = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const maxNameLength = 64;

/** The name of a person as Telegram sends it, as far as it can be stored and shown on one line. PostgreSQL stores no NUL. */
export function displayName(...names: unknown[]): string {
  const given = names.filter(name => typeof name === 'string' && name !== '').join(' ');
  const visible = [...given.toWellFormed()].filter(character => !controls.test(character));
  return visible.slice(0, maxNameLength).join('');
}

/** A name or note that people typed: visible, on one line, at most 128 characters. */
export function isLabel(text: string): boolean {
  const isVisible = /[^\p{C}\p{Z}]/u.test(text);
  return isVisible && !controls.test(text) && text.isWellFormed() && [...text].length <= 128;
}
