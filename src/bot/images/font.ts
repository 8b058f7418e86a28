/**
 * A font of digits, punctuation and Latin letters, five columns by eight rows. A glyph is its columns from the left, two
 * hexadecimal digits each; the lowest bit is the top row, and the eighth row is for the tails of letters such as g.
 */
const firstCode = 0x20;
const glyphs = `
0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649562050 0000070000 001c224100 0041221c00
14083e0814 08083e0808 0050300000 0808080808 0060600000 2010080402 3e5149453e 00427f4000 4261514946 2141454b31
1814127f10 2745454539 3c4a494930 0171090503 3649494936 064949291e 0036360000 0056360000 0814224100 1414141414
0041221408 0201510906 324979413e 7e1111117e 7f49494936 3e41414122 7f4141221c 7f49494941 7f09090901 3e4149497a
7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f020c027f 7f0408107f 3e4141413e 7f09090906 3e4151215e
7f09192946 4649494931 01017f0101 3f4040403f 1f2040201f 3f4038403f 6314081463 0708700807 6151494543 007f414100
0204081020 0041417f00 0402010204 4040404040 0001020400 2054545478 7f48444438 3844444420 384444487f 3854545418
087e090102 18a4a4a47c 7f08040478 00447d4000 4080847d00 7f10284400 00417f4000 7c04180478 7c08040478 3844444438
fc24242418 18242418fc 7c08040408 4854545420 043f444020 3c4040207c 1c2040201c 3c4030403c 4428102844 1ca0a0a07c
4464544c44 0008364100 00007f0000 0041360800 0804081008`
  .trim()
  .split(/\s+/);

const spaceWidth = 3;
const gap = 1;
export const capitalHeight = 7;

/** A cell of the font that is inked, counted from the left end and the top of the text. */
export interface Cell {
  column: number;
  row: number;
}

/** One glyph's inked cells; strokes join cells of the same glyph only. */
export type Glyph = Cell[];

export const isPrintable = (text: string) => [...text].every(letter => glyphOf(letter) !== undefined);

const glyphOf = (letter: string) => glyphs[letter.codePointAt(0)! - firstCode];

/** How many columns wide the text is, and the glyphs in their places; letters the font lacks are left out. */
export function layOut(text: string): { width: number; glyphs: Glyph[] } {
  let end = 0;
  const placed = [...text].filter(isPrintable).map(letter => {
    const columns = inkedColumns(glyphOf(letter)!);
    const glyph = columns.flatMap((bits, index) => cellsOf(bits, end + index));
    end += columns.length + gap;
    return glyph;
  });
  return { width: Math.max(0, end - gap), glyphs: placed };
}

/** A narrow letter takes no more room than it needs, as in print. */
function inkedColumns(glyph: string): number[] {
  const columns = [...Buffer.from(glyph, 'hex')];
  const from = columns.findIndex(bits => bits > 0);
  return from < 0
    ? new Array(spaceWidth).fill(0)
    : columns.slice(from, columns.findLastIndex(bits => bits > 0) + 1);
}

const cellsOf = (bits: number, column: number): Cell[] =>
  [0, 1, 2, 3, 4, 5, 6, 7].filter(row => bits & (1 << row)).map(row => ({ column, row }));
