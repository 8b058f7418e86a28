import { Button, FileButton } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { QrPhoto, ResolvedQr } from '../../../../src/portal/shapes.ts';
import { Refused, send, sendFile } from '../../api.ts';
import { Badge } from '../../parts/badge.tsx';
import { TextField } from '../../parts/fields.tsx';
import { useAttempt } from '../../parts/notify.ts';
import { Card, Facts, Failure, PageFrame } from '../../parts/page.tsx';
import { Copyable, Rub, Usdt } from '../../parts/values.tsx';
import { type Mode, useMode, usePartner } from '../partner.ts';
import { inBoth, useTexts } from '../texts/index.ts';
import { PayByHand, PaymentWithoutAnswer } from './pay.tsx';

const texts = inBoth({
  lead: [
    'Shows who would be paid and how much. Nothing is paid until you confirm it.',
    'Показывает, кто получит деньги и сколько. Без вашего подтверждения ничего не оплачивается.',
  ],
  link: ['Link of the QR code', 'Ссылка из QR-кода'],
  photo: ['Photo of the code', 'Фото кода'],
  notAPicture: [
    'This file is not a picture. Choose a photo of the QR code.',
    'Это не изображение. Выберите фото QR-кода.',
  ],
  purpose: ['Purpose', 'Назначение'],
  cost: ['At the current rate', 'По текущему курсу'],
  noRate: [
    'The rate is out of date, so the amount in USDT is not known.',
    'Курс устарел, сумма в USDT неизвестна.',
  ],
  code: ['QR code ID', 'ID QR-кода'],
  payable: ['Can be paid', 'Можно оплатить'],
  notPayable: ['Cannot be paid', 'Оплатить нельзя'],
  inTest: [
    'Test mode: any well-formed link can be paid, and the recipient is made up.',
    'Тестовый режим: подходит любая правильная ссылка, получатель вымышленный.',
  ],
});

export default function Qr() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const mode = useMode();
  const [link, setLink] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const { pending, refusal, attempt } = useAttempt();

  function resolve(read: () => Promise<string>): void {
    setFound(null);
    void attempt(async () => {
      const qr_url = await read();
      setLink(qr_url);
      setFound({ qr: await send<ResolvedQr>(api('/qr'), { mode, qr_url }), link: qr_url, mode });
    });
  }

  const submit = (event: FormEvent) => {
    event.preventDefault();
    resolve(async () => link.trim());
  };
  const take = (file: File | null) => {
    if (!file) return;
    resolve(async () => {
      const photo = await smallPhoto(file).catch(() => {
        throw new Refused('invalid_request', 0, t.notAPicture);
      });
      return (await sendFile<QrPhoto>(api('/qr/photo'), photo)).qr_url;
    });
  };

  return (
    <PageFrame title={t.nav.qr} lead={t.lead}>
      <Card>
        <form onSubmit={submit} className="filters">
          <TextField
            className="filter-wide"
            label={t.link}
            placeholder="https://qr.nspk.ru/…"
            inputMode="url"
            spellCheck={false}
            maxLength={2048}
            value={link}
            onChange={setLink}
          />
          <Button type="submit" loading={pending} disabled={link.trim() === ''}>
            {t.check}
          </Button>
          <FileButton accept="image/*" onChange={take}>
            {props => (
              <Button variant="default" disabled={pending} {...props}>
                {t.photo}
              </Button>
            )}
          </FileButton>
        </form>
        {mode === 'test' && <p className="dim">{t.inTest}</p>}
      </Card>
      <div aria-live="polite" className="portal-found">
        {refusal !== null && <Failure error={refusal} />}
        {found && found.mode === mode && <Resolved {...found} />}
        <PaymentWithoutAnswer />
      </div>
    </PageFrame>
  );
}

/** A code, as it was read in one mode. */
interface Found {
  qr: ResolvedQr;
  link: string;
  mode: Mode;
}

function Resolved({ qr, link, mode }: Found) {
  const t = useTexts(texts);
  return (
    <Card
      title={qr.recipient}
      side={<Badge tone={qr.why_not ? 'bad' : 'good'}>{qr.why_not ? t.notPayable : t.payable}</Badge>}
    >
      {qr.why_not && <p className="bad-text">{t.errors[qr.why_not]}</p>}
      <Facts
        facts={[
          [t.amount, <Rub key="rub" amount={qr.amount_rub} />],
          [t.cost, qr.amount_usdt === null ? t.noRate : <Usdt key="usdt" amount={qr.amount_usdt} />],
          [t.purpose, qr.purpose || '—'],
          [t.code, <Copyable key="code" text={qr.qrc_id} />],
        ]}
      />
      <PayByHand qr={qr} link={link} mode={mode} />
    </Card>
  );
}

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
