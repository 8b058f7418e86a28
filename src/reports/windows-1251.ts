/** The bytes of each character beyond ASCII, from the decoder that every runtime has. */
const bytes = new Map(
  Array.from({ length: 128 }, (_, index) => {
    const byte = 128 + index;
    return [new TextDecoder('windows-1251').decode(Uint8Array.of(byte)), byte];
  }),
);
const questionMark = '?'.charCodeAt(0);

/** What the encoding does not have, such as an emoji, becomes a question mark. */
export function inWindows1251(text: string): Uint8Array {
  const encoded = new Uint8Array(text.length);
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    encoded[length++] = code < 128 ? code : (bytes.get(character) ?? questionMark);
  }
  return encoded.subarray(0, length);
}
