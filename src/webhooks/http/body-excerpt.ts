/** So much of the body of a refusal is kept, for people who look for the cause. */
const maxKeptBytes = 4_096;

/** Collects the beginning of a body. */
export function createBodyExcerpt() {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk: Buffer): void {
      // A copy: the chunk is part of a larger buffer, which would stay in memory with it.
      const piece = Buffer.from(chunk.subarray(0, maxKeptBytes - bytes));
      bytes += piece.length;
      if (piece.length > 0) pieces.push(piece);
    },
    get isFull() {
      return bytes >= maxKeptBytes;
    },
    /** Null: there was no body. A letter that is cut in the middle is left out; PostgreSQL stores no NUL. */
    text: (): string | null => {
      const text = new TextDecoder().decode(Buffer.concat(pieces), { stream: true });
      return text === '' ? null : text.replaceAll('\0', '\ufffd');
    },
  };
}
