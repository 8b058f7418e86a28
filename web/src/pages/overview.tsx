import { PageFrame } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { useShared } from '../texts/index.ts';

export default function Overview() {
  const t = useShared();
  return (
    <PageFrame title={t.nav.overview}>
      <Empty title={t.nothing} />
    </PageFrame>
  );
}
