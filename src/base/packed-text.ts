/**
 * Text in few bytes: every character takes as many bits as the highest one needs, 7 for ASCII, 11 for Cyrillic and at most
 * 21. UTF-8 takes up to 32, so its worst case is longer by half.
 */

/** The bits of a character, and how many there are. */
const headerBytes = 3;
const minBits = 7;

/** UTF-16 units; a longer text is never packed. */
const maxUnits = 4_096;
const units = new Uint16Array(maxUnits);
const unitBytes = Buffer.from(units.buffer);
const codePoints = new Uint32Array(maxUnits);

/** Writes the text and returns its end; undefined if it does not fit. */
export function packText(text: string, target: Buffer, start: number): number | undefined {
  // A character has at most two units: a text that is much too long is not read.
  if (text.length > maxUnits || (text.length * minBits) / 16 > target.length - start) return undefined;
  const { count, bits } = readCodePoints(text);
  const end = start + headerBytes + Math.ceil((count * bits) / 8);
  if (end > target.length) return undefined;
  target[start] = bits;
  target.writeUInt16BE(count, start + 1);
  let at = start + headerBytes;
  let pending = 0;
  let pendingBits = 0;
  for (let index = 0; index < count; index++) {
    // At most 7 + 21 bits are still to be written. What is above them is never read.
    pending = (pending << bits) | codePoints[index]!;
    for (pendingBits += bits; pendingBits >= 8; ) {
      pendingBits -= 8;
      target[at++] = pending >>> pendingBits;
    }
  }
  if (pendingBits > 0) target[at] = pending << (8 - pendingBits);
  return end;
}

/** Into `codePoints`. Through bytes, since the characters of a string that was put together of parts are slow to read. */
function readCodePoints(text: string): { count: number; bits: number } {
  unitBytes.write(text, 'utf16le');
  let count = 0;
  let allBits = 0;
  for (let index = 0; index < text.length; index++) {
    let codePoint = units[index]!;
    const next = units[index + 1]!;
    if (isSurrogate(codePoint, 0xd800) && index + 1 < text.length && isSurrogate(next, 0xdc00)) {
      codePoint = 0x10000 + ((codePoint & 0x3ff) << 10) + (next & 0x3ff);
      index++;
    }
    allBits |= codePoint;
    codePoints[count++] = codePoint;
  }
  return { count, bits: Math.max(minBits, 32 - Math.clz32(allBits)) };
}

const isSurrogate = (unit: number, first: number) => (unit & 0xfc00) === first;

/** The text that starts there, and its end. Throws if there is none. */
export function unpackText(bytes: Buffer, start: number): { text: string; end: number } {
  const bits = bytes.readUInt8(start);
  const count = bytes.readUInt16BE(start + 1);
  const end = start + headerBytes + Math.ceil((count * bits) / 8);
  if (end > bytes.length) throw new RangeError('a packed text is cut off');
  const codePoints = new Array<number>(count);
  let at = start + headerBytes;
  let pending = 0;
  let pendingBits = 0;
  for (let index = 0; index < count; index++) {
    while (pendingBits < bits) {
      pending = (pending << 8) | bytes[at++]!;
      pendingBits += 8;
    }
    pendingBits -= bits;
    codePoints[index] = pending >>> pendingBits;
    pending &= (1 << pendingBits) - 1;
  }
  return { text: String.fromCodePoint(...codePoints), end };
}
