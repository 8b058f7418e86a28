import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Invitation, OperatorRole, OperatorRow } from '../../../../src/console/shapes.ts';
import { send } from '../../api.ts';
import { Action, useSession } from '../../parts/action.tsx';
import { State } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { Loaded, Rows, useLive } from '../../parts/page.tsx';
import { Ago, Copyable, Time } from '../../parts/values.tsx';
import { useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

const roles: OperatorRole[] = ['viewer', 'support', 'finance', 'admin'];

type Doing = { what: 'create' } | { what: 'reset' | 'disable' | 'enable' | 'role'; to: OperatorRow };

export function Operators() {
  const t = useTexts(texts);
  const own = useSession().operator.operator_id;
  const [doing, setDoing] = useState<Doing | null>(null);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const list = useLive<{ data: OperatorRow[] }>('/operators', 10_000);
  const close = () => setDoing(null);
  return (
    <>
      <div className="between card-lead">
        <p className="dim">{t.operatorsSay}</p>
        <Action needs="operators.manage" variant="filled" onClick={() => setDoing({ what: 'create' })}>
          {t.createOperator}
        </Action>
      </div>
      <Loaded of={list} />
      {list.data && (
        <Rows
          label={t.operators}
          rows={list.data.data}
          keyOf={row => row.operator_id}
          columns={[
            { head: t.name, cell: row => `${row.name}${row.operator_id === own ? ` (${t.you})` : ''}` },
            { head: t.role, cell: row => t.roles[row.role] },
            { head: t.state, cell: row => <State state={row.state} /> },
            { head: t.lastSeen, cell: row => <Ago at={row.last_seen_at} /> },
            { head: t.since, wideOnly: true, cell: row => <Time as="short" at={row.created_at} /> },
            {
              head: t.actions,
              right: true,
              cell: row => <Deeds row={row} isOwn={row.operator_id === own} onChoose={setDoing} />,
            },
          ]}
        />
      )}
      {doing?.what === 'create' && <Create onMade={setInvitation} onClose={close} />}
      {doing?.what === 'role' && <ChangeRole operator={doing.to} onClose={close} />}
      {doing && doing.what !== 'create' && doing.what !== 'role' && (
        <Confirm
          title={`${t[doing.what]}: ${doing.to.name}`}
          says={t.deedSays[doing.what]}
          verb={t[doing.what]}
          danger={doing.what !== 'enable'}
          run={() => send(`/operators/${doing.to.operator_id}/${doing.what}`)}
          onDone={answer => doing.what === 'reset' && setInvitation(answer as Invitation)}
          onClose={close}
        />
      )}
      {invitation && <OneTimeLink invitation={invitation} onClose={() => setInvitation(null)} />}
    </>
  );
}

interface DeedsProps {
  row: OperatorRow;
  isOwn: boolean;
  onChoose: (doing: Doing) => void;
}

function Deeds({ row, isOwn, onChoose }: DeedsProps) {
  const t = useTexts(texts);
  const needs = 'operators.manage';
  const why = isOwn ? t.notYourself : undefined;
  return (
    <span className="row-actions">
      <Action needs={needs} why={why} onClick={() => onChoose({ what: 'role', to: row })}>
        {t.changeRole}
      </Action>
      {row.state !== 'disabled' && (
        <Action needs={needs} onClick={() => onChoose({ what: 'reset', to: row })}>
          {t.reset}
        </Action>
      )}
      {row.state === 'disabled' ? (
        <Action needs={needs} onClick={() => onChoose({ what: 'enable', to: row })}>
          {t.enable}
        </Action>
      ) : (
        <Action needs={needs} why={why} onClick={() => onChoose({ what: 'disable', to: row })}>
          {t.disable}
        </Action>
      )}
    </span>
  );
}

function RoleSelect({ value, onChange }: { value: OperatorRole; onChange: (role: OperatorRole) => void }) {
  const t = useTexts(texts);
  return (
    <SelectField
      label={t.role}
      description={t.roleSays[value]}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={value}
      words={t.roles}
      values={roles}
      onChange={onChange}
    />
  );
}

function Create({ onMade, onClose }: { onMade: (invitation: Invitation) => void; onClose: () => void }) {
  const t = useTexts(texts);
  const [name, setName] = useState('');
  const [role, setRole] = useState<OperatorRole>('support');
  return (
    <Confirm
      title={t.createOperator}
      says={t.createSays}
      verb={t.create}
      ready={name.trim().length >= 2}
      run={() => send<Invitation>('/operators', { name: name.trim(), role })}
      onDone={answer => onMade(answer as Invitation)}
      onClose={onClose}
    >
      <TextField
        label={t.name}
        description={t.nameHint}
        required
        maxLength={40}
        autoCapitalize="none"
        spellCheck={false}
        value={name}
        onChange={setName}
        data-autofocus
      />
      <RoleSelect value={role} onChange={setRole} />
    </Confirm>
  );
}

function ChangeRole({ operator, onClose }: { operator: OperatorRow; onClose: () => void }) {
  const t = useTexts(texts);
  const [role, setRole] = useState(operator.role);
  return (
    <Confirm
      title={`${t.changeRole}: ${operator.name}`}
      says={t.changeRoleSays}
      verb={t.change}
      ready={role !== operator.role}
      run={() => send(`/operators/${operator.operator_id}/role`, { role })}
      onClose={onClose}
    >
      <RoleSelect value={role} onChange={setRole} />
    </Confirm>
  );
}

/** The link is shown only once, so the dialog closes only by its button. */
function OneTimeLink({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${t.linkTitle}: ${invitation.name}`}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <p>{t.linkSays}</p>
        <div className="one-time">
          <Copyable text={invitation.setup_url} />
        </div>
        <Alert color="yellow">
          {t.linkOnce} {t.linkUntil} <Time at={invitation.expires_at} />
        </Alert>
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            {t.linkKept}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
