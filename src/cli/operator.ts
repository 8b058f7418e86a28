import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type Changed,
  createOperator,
  disableOperator,
  enableOperator,
  findOperator,
  listOperators,
  type Operator,
  operatorRoles,
  readOperatorName,
  resetOperator,
  setOperatorRole,
  setupUrl,
  signOutOperator,
} from '../operators/index.ts';
import { type AtWork, command, type Workplace } from './command.ts';
import { details, formatInstant, type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function operatorCommands(atWork: AtWork): Command {
  return new Command('operator')
    .description('give people access to the console')
    .addCommand(
      command('create', 'invite somebody; the link to set their password is shown this once')
        .requiredOption('--name <name>', 'by which they sign in', operatorName)
        .addOption(roleOption())
        .action(({ json, name, role }) =>
          atWork(json, async workplace => {
            const creation = await createOperator(workplace.desk, workplace.secretKey, { name, role });
            if (creation.outcome === 'created') return describeInvitation(workplace, creation);
            throw new RefusedError(
              creation.outcome,
              `There is an operator ${name} already: see kopeck operator list.`,
            );
          }),
        ),
    )
    .addCommand(
      command('list', 'list operators').action(({ json }) =>
        atWork(json, async ({ desk }) => {
          const operators = await listOperators(desk.pool);
          return {
            json: { operators: operators.map(describe) },
            text: table(
              ['name', 'role', 'state', 'last seen (UTC)', 'operator'],
              operators.map(({ name, role, state, lastSeenAt, operatorId }) => [
                name,
                role,
                state,
                formatInstant(lastSeenAt),
                operatorId,
              ]),
            ),
          };
        }),
      ),
    )
    .addCommand(
      command('reset <name>', 'void password and codes, and show a link to set new ones').action(
        (name, { json }) =>
          atWork(json, async workplace => {
            const { operatorId } = await find(workplace, name);
            const { desk, secretKey } = workplace;
            const result = await resetOperator(desk, secretKey, operatorId, { evenLastAdmin: true });
            return result.outcome === 'reset'
              ? describeInvitation(workplace, result)
              : refuse(name, result.outcome);
          }),
      ),
    )
    .addCommand(
      command('disable <name>', 'end their sessions and let them in no more').action((name, { json }) =>
        atWork(json, workplace =>
          change(workplace, name, 'is disabled', id => disableOperator(workplace.desk, id)),
        ),
      ),
    )
    .addCommand(
      command('enable <name>', 'let them in again').action((name, { json }) =>
        atWork(json, workplace =>
          change(workplace, name, 'is enabled', id => enableOperator(workplace.desk, id)),
        ),
      ),
    )
    .addCommand(
      command('role <name>', 'change what they may do')
        .addOption(roleOption())
        .action((name, { json, role }) =>
          atWork(json, workplace =>
            change(workplace, name, `is ${role}`, id => setOperatorRole(workplace.desk, id, role)),
          ),
        ),
    )
    .addCommand(
      command('sign-out <name>', 'end all their sessions').action((name, { json }) =>
        atWork(json, workplace =>
          change(workplace, name, 'is signed out', id => signOutOperator(workplace.desk, id)),
        ),
      ),
    );
}

const roleOption = () =>
  new Option('--role <role>', 'what they may do').choices([...operatorRoles]).makeOptionMandatory();

function operatorName(text: string): string {
  const name = readOperatorName(text);
  if (name) return name;
  throw new InvalidArgumentError(
    'It must be 2 to 40 Latin letters, digits, dots and hyphens, with a letter or digit at both ends.',
  );
}

async function find({ desk }: Workplace, name: string): Promise<Operator> {
  const operator = await findOperator(desk.pool, readOperatorName(name) ?? '');
  return operator ?? refuse(name, 'no_operator');
}

async function change(
  workplace: Workplace,
  name: string,
  what: string,
  act: (id: Operator['operatorId']) => Promise<Changed>,
): Promise<Output> {
  const result = await act((await find(workplace, name)).operatorId);
  if (result.outcome !== 'done') return refuse(name, result.outcome);
  return { json: describe(result.operator), text: `${result.operator.name} ${what}.` };
}

function refuse(name: string, code: Exclude<Changed['outcome'], 'done'>): never {
  const reasons = {
    no_operator: `There is no operator ${name}: see kopeck operator list.`,
    last_admin: `${name} is the last active admin: make another one first.`,
    disabled: `${name} is disabled: kopeck operator enable ${name} first.`,
  };
  throw new RefusedError(code, reasons[code]);
}

const describe = ({ operatorId, name, role, state, createdAt, lastSeenAt }: Operator) => ({
  operator_id: operatorId,
  name,
  role,
  state,
  created_at: createdAt.toISOString(),
  last_seen_at: lastSeenAt?.toISOString() ?? null,
});

function describeInvitation(
  { settings }: Workplace,
  { operator, token, expiresAt }: { operator: Operator; token: string; expiresAt: Date },
): Output {
  const { publicUrl = `http://${settings.host}:${settings.port}` } = settings;
  const url = setupUrl(publicUrl, token);
  return {
    json: { ...describe(operator), setup_url: url, expires_at: expiresAt.toISOString() },
    text: `${details([
      ['operator', `${operator.name} (${operator.role})`],
      ['link', url],
      ['until', `${formatInstant(expiresAt)} UTC`],
    ])}\nGive them the link: whoever opens it first sets the password. It is not stored and works once.`,
  };
}
