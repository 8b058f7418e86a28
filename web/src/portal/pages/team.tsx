import { useState } from 'react';
import type { Invitation, MemberRole, MemberRow, Team as Shape } from '../../../../src/portal/shapes.ts';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { type Column, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { readSession } from '../../parts/root.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { usePartner } from '../partner.ts';
import { Action, ShowSecret } from '../parts.tsx';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  lead: [
    'Who has access. All of them are notified of changes to keys and to the team.',
    'Кто имеет доступ. Все получают уведомления об изменениях ключей и команды.',
  ],
  you: ['(you)', '(вы)'],
  joined: ['Joined', 'В команде с'],
  what: {
    viewer: [
      'Sees payments, balance and statements, and reads QR codes.',
      'Видит платежи, баланс и выписки, проверяет QR-коды.',
    ],
    accountant: [
      'Sees payments, balance, statements and reports. Sees no keys and no webhooks.',
      'Видит платежи, баланс, выписки и отчёты. Не видит ключи и вебхуки.',
    ],
    payer: [
      'Sees the same as a viewer and pays by hand. Sees no keys and no webhooks.',
      'Видит то же, что наблюдатель, и платит вручную. Не видит ключи и вебхуки.',
    ],
    developer: [
      'Sees the same as a viewer, manages test keys and the webhook, and sees API requests. Cannot pay by hand.',
      'Видит то же, что наблюдатель, управляет тестовыми ключами и вебхуком, видит запросы к API. Платить вручную не может.',
    ],
    owner: [
      'May do everything: live keys, the team, limits, payments by hand.',
      'Может всё: боевые ключи, команда, лимиты, платежи вручную.',
    ],
  },
  invite: ['Invite', 'Пригласить'],
  inviteSays: [
    'The link adds one person to the team. It works once, within 24 hours.',
    'Ссылка добавит в команду одного человека. Действует 24 часа и только один раз.',
  ],
  invitation: ['Invitation', 'Приглашение'],
  linkSays: [
    'Send this link to the person. It works once, within 24 hours.',
    'Отправьте эту ссылку человеку. Она действует 24 часа и только один раз.',
  ],
  commandSays: [
    'The person sends this text to the bot. It works once, within 24 hours.',
    'Этот текст человек отправляет боту. Он действует 24 часа и только один раз.',
  ],
  full: (max: number) => [
    `A team has ${max} members at most`,
    `В команде может быть не больше ${max} человек`,
  ],
  changeRole: ['Change role', 'Сменить роль'],
  removeSays: (name: string, partner: string) => [
    `${name} loses access to “${partner}” at once.`,
    `${name} сразу потеряет доступ к компании «${partner}».`,
  ],
  leave: ['Leave', 'Выйти из команды'],
  leaveSays: (partner: string) => [
    `You lose access to “${partner}” at once.`,
    `Вы сразу потеряете доступ к компании «${partner}».`,
  ],
});

type Dialog = { kind: 'invite' } | { kind: 'role' | 'remove'; member: MemberRow };

export default function Team() {
  const t = useTexts(texts);
  const { api, partner } = usePartner();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const read = useLive<Shape>(api('/team'), 20_000);
  const { data } = read;
  const columns = useColumns(setDialog);
  const close = () => setDialog(null);
  return (
    <PageFrame
      title={t.nav.team}
      lead={t.lead}
      actions={
        <Action
          needs="own"
          variant="filled"
          why={data && data.data.length >= data.max_members ? t.full(data.max_members) : undefined}
          onClick={() => setDialog({ kind: 'invite' })}
        >
          {t.invite}
        </Action>
      }
    >
      <Loaded of={read} />
      {data && (
        <Rows label={t.nav.team} columns={columns} rows={data.data} keyOf={({ user_id }) => user_id} />
      )}
      {dialog?.kind === 'invite' && <InviteDialog onClose={close} onInvited={setInvitation} />}
      {dialog?.kind === 'role' && <RoleDialog member={dialog.member} onClose={close} />}
      {dialog?.kind === 'remove' && (
        <Confirm
          title={dialog.member.is_you ? t.leave : t.remove}
          says={
            dialog.member.is_you ? t.leaveSays(partner.name) : t.removeSays(dialog.member.name, partner.name)
          }
          verb={dialog.member.is_you ? t.leave : t.remove}
          danger
          run={() => send(api(`/team/${dialog.member.user_id}/remove`))}
          onClose={close}
          onDone={() => dialog.member.is_you && void readSession()}
        />
      )}
      {invitation && (
        <ShowSecret
          title={t.invitation}
          secrets={[invitation.url ?? invitation.command]}
          says={invitation.url ? t.linkSays : t.commandSays}
          onClose={() => setInvitation(null)}
        />
      )}
    </PageFrame>
  );
}

function useColumns(open: (dialog: Dialog) => void): Column<MemberRow>[] {
  const t = useTexts(texts);
  return [
    {
      head: t.name,
      cell: row => (
        <span className="inline">
          <Name text={row.name} />
          {row.is_you && <span className="dim number">{t.you}</span>}
        </span>
      ),
    },
    { head: t.role, cell: row => t.memberRoles[row.role] },
    { head: t.joined, cell: row => <Time at={row.joined_at} as="short" /> },
    {
      head: t.actions,
      cell: row => (
        <span className="portal-actions">
          <Action needs="own" onClick={() => open({ kind: 'role', member: row })}>
            {t.changeRole}
          </Action>
          <Action
            needs={row.is_you ? 'money' : 'own'}
            color="red"
            onClick={() => open({ kind: 'remove', member: row })}
          >
            {row.is_you ? t.leave : t.remove}
          </Action>
        </span>
      ),
    },
  ];
}

function RoleSelect({ value, onChange }: { value: MemberRole; onChange: (role: MemberRole) => void }) {
  const t = useTexts(texts);
  return (
    <SelectField
      label={t.role}
      description={t.what[value]}
      value={value}
      onChange={onChange}
      words={t.memberRoles}
    />
  );
}

interface InviteProps {
  onClose: () => void;
  onInvited: (invitation: Invitation) => void;
}

function InviteDialog({ onClose, onInvited }: InviteProps) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [role, setRole] = useState<MemberRole>('viewer');
  return (
    <Confirm
      title={t.invite}
      says={t.inviteSays}
      verb={t.invite}
      run={() => send<Invitation>(api('/team/invite'), { role })}
      onClose={onClose}
      onDone={answer => onInvited(answer as Invitation)}
    >
      <RoleSelect value={role} onChange={setRole} />
    </Confirm>
  );
}

function RoleDialog({ member, onClose }: { member: MemberRow; onClose: () => void }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [role, setRole] = useState(member.role);
  return (
    <Confirm
      title={t.changeRole}
      says={member.name}
      verb={t.save}
      ready={role !== member.role}
      run={() => send(api(`/team/${member.user_id}/role`), { role })}
      onClose={onClose}
      onDone={() => member.is_you && void readSession()}
    >
      <RoleSelect value={role} onChange={setRole} />
    </Confirm>
  );
}
