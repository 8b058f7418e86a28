import { Link } from 'wouter';
import type { LoggedBodies } from '../../../../src/portal/shapes.ts';
import { Refused } from '../../api.ts';
import { Body } from '../../parts/body.tsx';
import { Card, Empty, Loaded, PageFrame, useOnce } from '../../parts/page.tsx';
import { usePartner } from '../partner.ts';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  all: ['All API requests', 'Все запросы к API'],
  sent: ['Request body', 'Тело запроса'],
  answered: ['Response body', 'Тело ответа'],
  none: ['No bodies of this request', 'Тел этого запроса нет'],
  noneHint: [
    'Bodies are kept only while an owner has turned that on, and for seven days.',
    'Тела записываются, только пока владелец включил запись, и хранятся семь дней.',
  ],
});

/** The bodies of a request and of its answer. */
export default function LoggedRequest({ requestId }: { requestId: string }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const read = useOnce<LoggedBodies>(api(`/request-log/${requestId}`));
  const isMissing = read.error instanceof Refused && read.error.status === 404;
  return (
    <PageFrame title={requestId} lead={<Link href="/requests">{t.all}</Link>}>
      {isMissing ? <Empty title={t.none}>{t.noneHint}</Empty> : <Loaded of={read} />}
      {read.data && (
        <>
          <BodyCard title={t.sent} text={read.data.request_body} />
          <BodyCard title={t.answered} text={read.data.response_body} />
        </>
      )}
    </PageFrame>
  );
}

const BodyCard = ({ title, text }: { title: string; text: string | null }) => (
  <Card title={title}>{text ? <Body text={text} label={title} /> : <p className="dim">—</p>}</Card>
);
