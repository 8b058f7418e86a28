import { InvalidArgumentError } from 'commander';
import { programName } from '../base/program-name.ts';
import * as operators from '../operators/index.ts';
import { type Context, choice, type DatabaseCommand, group } from './command.ts';
import { details, formatInstant, listing, type Output, refuse } from './output.ts';

export const operatorCommands = (command: DatabaseCommand) =>
  group('operator', 'manage operators of the console', [
    command('create', 'create an operator; the setup link is shown only once', create)
      .requiredOption('--name <name>', 'sign-in name', operatorName)
      .addOption(roleOption()),
    command('list', 'list operators', list),
    command('reset <name>', 'reset password and TOTP, and show a new setup link', reset),
    command(
      'disable <name>',
      'end all sessions and block sign-in',
      changing('is disabled', operators.disableOperator),
    ),
    command('enable <name>', 'allow sign-in again', changing('is enabled', operators.enableOperator)),
    command('role <name>', 'change the role', setRole).addOption(roleOption()),
    command('sign-out <name>', 'end all sessions', changing('is signed out', operators.signOutOperator)),
  ]);

type Act = (audit: Context['audit'], id: operators.Operator['operatorId']) => Promise<operators.Changed>;

async function create(context: Context, wanted: { name: string; role: operators.OperatorRole }) {
  const creation = await operators.createOperator(context.audit, context.keyring, wanted);
  if (creation.outcome === 'created') return describeInvitation(context, creation);
  refuse(creation.outcome, `Operator ${wanted.name} already exists: see ${programName} operator list.`);
}

async function list({ audit }: Context) {
  const all = (await operators.listOperators(audit.pool)).map(operators.operatorObject);
  return listing({ operators: all }, 'operators', {
    name: 'name',
    role: 'role',
    state: 'state',
    'last seen (UTC)': 'last_seen_at',
    operator: 'operator_id',
  });
}

async function reset(context: Context, name: string) {
  const { operatorId } = await find(context, name);
  const { audit, keyring } = context;
  const result = await operators.resetOperator(audit, keyring, operatorId, { allowLastAdmin: true });
  return result.outcome === 'reset'
    ? describeInvitation(context, result)
    : refuseChange(name, result.outcome);
}

const roleOption = () => choice('--role <role>', 'role of the operator', operators.operatorRoles);

function operatorName(text: string): string {
  const name = operators.readOperatorName(text);
  if (name) return name;
  throw new InvalidArgumentError(
    'It must be 2 to 40 Latin letters, digits, dots and hyphens, with a letter or digit at both ends.',
  );
}

async function find({ audit }: Context, name: string): Promise<operators.Operator> {
  const operator = await operators.findOperator(audit.pool, operators.readOperatorName(name) ?? '');
  return operator ?? refuseChange(name, 'no_operator');
}

const changing = (what: string, act: Act) => async (context: Context, name: string) => {
  const result = await act(context.audit, (await find(context, name)).operatorId);
  if (result.outcome !== 'done') return refuseChange(name, result.outcome);
  return { json: operators.operatorObject(result.operator), text: `${result.operator.name} ${what}.` };
};

const setRole = (context: Context, name: string, { role }: { role: operators.OperatorRole }) =>
  changing(`is ${role}`, (audit, id) => operators.setOperatorRole(audit, id, role))(context, name);

function refuseChange(name: string, code: Exclude<operators.Changed['outcome'], 'done'>): never {
  const reasons = {
    no_operator: `There is no operator ${name}: see ${programName} operator list.`,
    last_admin: `${name} is the last active admin: create another one first.`,
    disabled: `${name} is disabled: run ${programName} operator enable ${name} first.`,
  };
  refuse(code, reasons[code]);
}

function describeInvitation(
  { settings }: Context,
  { operator, token, expiresAt }: { operator: operators.Operator; token: string; expiresAt: Date },
): Output {
  const { publicUrl = `http://${settings.host}:${settings.port}` } = settings;
  const url = operators.setupUrl(publicUrl, token);
  const shown = details({
    operator: `${operator.name} (${operator.role})`,
    link: url,
    'valid until': `${formatInstant(expiresAt)} UTC`,
  });
  return {
    json: { ...operators.operatorObject(operator), setup_url: url, expires_at: expiresAt.toISOString() },
    text: `${shown}\nSend the link to the operator. It works once, is not stored, and the first person who uses it sets the password.`,
  };
}
