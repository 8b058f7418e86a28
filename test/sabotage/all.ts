import { accessSabotages } from './access.ts';
import { approvalSabotages } from './approvals.ts';
import { moneySabotages } from './money.ts';
import { serviceSabotages } from './service.ts';

export const sabotages = [...moneySabotages, ...serviceSabotages, ...approvalSabotages, ...accessSabotages];
