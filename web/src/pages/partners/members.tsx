import type { PartnerDetail } from '../../../../src/console/shapes/partners.ts';
import { Card, Empty, Rows } from '../../parts/page.tsx';
import { Time } from '../../parts/values.tsx';
import { useTexts, wordIn } from '../../texts/index.ts';
import { texts } from './texts.ts';

export function Members({ members }: Pick<PartnerDetail, 'members'>) {
  const t = useTexts(texts);
  return (
    <Card title={t.members}>
      <Rows
        label={t.members}
        rows={members}
        keyOf={member => member.name + member.joined_at}
        empty={<Empty title={t.noMembers}>{t.noMembersHint}</Empty>}
        columns={[
          { head: t.memberName, cell: member => member.name },
          { head: t.role, cell: member => wordIn(t.memberRoles, member.role) },
          { head: t.joined, cell: member => <Time as="short" at={member.joined_at} /> },
        ]}
      />
    </Card>
  );
}
