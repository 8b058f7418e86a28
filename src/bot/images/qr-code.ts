import { renderAsync } from '@resvg/resvg-js';
import { renderSVG } from 'uqr';

const widthPx = 480;

/** A PNG of a QR code with this text. */
export async function drawQrCode(text: string): Promise<Buffer> {
  const svg = renderSVG(text, { ecc: 'M', border: 4 });
  const image = await renderAsync(svg, { fitTo: { mode: 'width', value: widthPx } });
  return image.asPng();
}
