import { createQrReader } from '../../bot/index.ts';
import { type Route, refuse, throttled } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import { post } from '../route.ts';

/** The page makes photos smaller than this before it sends them. */
const maxBytes = 2 * 1024 * 1024;
const maxTextLength = 2_048;
/** A photo takes up to 8 s, and there is a queue. */
const busySec = 10;

/** Reads the QR code in a photo: not all browsers can. In threads of its own, as in the bot. */
export const photoRoute: Route<RouteDeps> = (scope, deps) => {
  const readWith = readPhoto(createQrReader(deps));
  void scope.register(async photos => {
    photos.addContentTypeParser(
      ['image/jpeg', 'image/png'],
      { parseAs: 'buffer', bodyLimit: maxBytes },
      async (_request: unknown, bytes: Buffer) => bytes,
    );
    readWith(photos, deps);
  });
};

export const readPhoto = (reader: ReturnType<typeof createQrReader>) =>
  post('/qr/photo', 'follow', { bodyLimit: maxBytes }, async request => {
    const photo = request.body;
    if (!Buffer.isBuffer(photo)) return refuse(422, 'invalid_request', 'Send a photo as JPEG or PNG.');
    const reading = await reader.read(request.person.userId, async () => photo);
    if (reading.outcome === 'busy') return throttled(busySec);
    if (reading.outcome === 'too_large')
      return refuse(400, 'image_too_large', 'Send at most 12 megapixels of 8 bits a channel.');
    if (reading.text === undefined || reading.text.length > maxTextLength)
      return refuse(400, 'no_qr_code', 'There is no readable QR code in this picture.');
    return { qr_url: reading.text };
  });
