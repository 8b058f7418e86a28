import { PageFrame } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { useShared } from '../texts/index.ts';

export default function Rates() {
  const t = useShared();
  return (
    <PageFrame title={t.nav.rates}>
      <Empty title={t.nothing} />
    </PageFrame>
  );
}
