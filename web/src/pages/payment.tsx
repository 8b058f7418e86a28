import { PageFrame } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { useShared } from '../texts/index.ts';

export default function Payment({ paymentId }: { paymentId: string }) {
  const t = useShared();
  return (
    <PageFrame title={paymentId}>
      <Empty title={t.nothing} />
    </PageFrame>
  );
}
