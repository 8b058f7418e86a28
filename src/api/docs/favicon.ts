/** Of a browser that asks for `/favicon.ico`; where it shows it larger, it uses the SVG. */
const sizePx = 32;
const headBytes = 22;

/** An ICO file with one PNG, drawn from the SVG. */
export async function drawFavicon(svg: string): Promise<Buffer> {
  // When it is needed, since it is native code.
  const { renderAsync } = await import('@resvg/resvg-js');
  const image = await renderAsync(svg, { fitTo: { mode: 'width', value: sizePx } });
  const png = image.asPng();
  const head = Buffer.alloc(headBytes);
  // An icon, with one image.
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt8(sizePx, 6);
  head.writeUInt8(sizePx, 7);
  // Colour planes and bits per pixel, then length and place of the PNG.
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(headBytes, 18);
  return Buffer.concat([head, png]);
}
