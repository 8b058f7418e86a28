const dollarTag = /\$\w*\$/y;

/** What ends a comment, a text, a quoted name or a dollar quote that begins here; undefined if none does. */
function closingOf(sql: string, place: number): string | undefined {
  if (sql.startsWith('--', place)) return '\n';
  if (sql.startsWith('/*', place)) return '*/';
  const [character] = sql.slice(place, place + 1);
  if (character === "'" || character === '"') return character;
  if (character !== '$') return undefined;
  dollarTag.lastIndex = place;
  return dollarTag.exec(sql)?.[0];
}

/**
 * The statements of an SQL file without comments and semicolons. A quote that is not closed reaches to the end, where the
 * server reports it.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let current = '';
  for (let place = 0; place < sql.length; ) {
    const closing = closingOf(sql, place);
    // A dollar quote opens with the text that closes it.
    const contentAt = place + (closing?.startsWith('$') ? closing.length : 1);
    const found = closing === undefined ? place : sql.indexOf(closing, contentAt);
    const end = closing === undefined ? place + 1 : found < 0 ? sql.length : found + closing.length;
    const token = sql.slice(place, end);
    place = end;
    if (token === ';') {
      statements.push(current.trim());
      current = '';
    } else current += closing === '\n' || closing === '*/' ? ' ' : token;
  }
  return [...statements, current.trim()].filter(statement => statement !== '');
}
