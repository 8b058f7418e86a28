/** Enough for a code that fills a quarter of the picture. */
const maxSide = 1600;

/** The picture as a JPEG that is small enough to send over a slow network. Rejects if the file is no picture. */
export async function smallPhoto(file: File): Promise<Blob> {
  const image = await createImageBitmap(file);
  const scale = Math.min(1, maxSide / Math.max(image.width, image.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  const drawing = canvas.getContext('2d')!;
  // A code without a background would be black on black.
  drawing.fillStyle = 'white';
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  const { promise, resolve, reject } = Promise.withResolvers<Blob>();
  canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/jpeg', 0.9);
  return promise;
}
